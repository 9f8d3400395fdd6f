import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        dist.barrier()  #! HW203
        dist.new_group([0, 1])  #! HW203

    return hook
