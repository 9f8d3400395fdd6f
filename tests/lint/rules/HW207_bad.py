import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        peaks = output.abs().amax(dim=-1)
        # hookwatch: allow HW201 -- measured
        dist.all_reduce(peaks)  #! HW207
        # hookwatch: allow HW201 -- measured
        dist.all_gather(sink.parts, inputs[0].float())  #! HW207

    return hook
