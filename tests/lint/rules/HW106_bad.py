import torch


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        torch.cuda.synchronize()  #! HW106

    return hook
