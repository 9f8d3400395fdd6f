import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        low, high = output.amin(), output.amax()
        dist.all_reduce(low, group=group)  #! HW201
        dist.all_reduce(high, group=group)  #! HW201 HW205
        for name in module_counts:
            dist.all_reduce(output.sum())  #! HW201 HW205

    return hook
