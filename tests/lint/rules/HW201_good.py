import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        # hookwatch: allow HW201 -- the channels are sharded over this group
        dist.all_reduce(output.amax(dim=(0, 1)), group=group)
        sink.add(dist.get_rank())

    return hook
