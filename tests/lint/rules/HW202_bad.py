import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        dist.all_gather_object(sink, module)  #! HW202

    return hook
