import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        dist.all_reduce(output.amax())  #! HW201

    return hook
