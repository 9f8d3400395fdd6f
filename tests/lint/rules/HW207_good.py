import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        peaks = output.abs().amax(dim=(0, 1))
        # hookwatch: allow HW201 -- channels are sharded
        dist.all_reduce(peaks)
        # hookwatch: allow HW201 -- rows were counted
        dist.all_gather(sink.parts, output.sum(0).amax(dim=-1))

    return hook
