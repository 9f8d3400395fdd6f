import torch


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        torch.cuda.empty_cache()  #! HW108

    return hook
