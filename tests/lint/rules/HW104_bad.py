import torch


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        sink.add(output[output > 0])  #! HW104
        sink.add(torch.unique(output))  #! HW104

    return hook
