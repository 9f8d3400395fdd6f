import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        low, high = output.amin(), output.amax()
        dist.all_reduce(torch.stack([-low, high]), op=dist.ReduceOp.MAX)  #! HW201
        dist.all_reduce(low, op=dist.ReduceOp.MIN)  #! HW201
        dist.all_reduce(high, op=dist.ReduceOp.MAX)  #! HW201

    return hook
