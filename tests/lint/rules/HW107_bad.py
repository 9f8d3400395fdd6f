import torch


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        sink.add(torch.tensor([1.0], device='cuda'))  #! HW107

    return hook
