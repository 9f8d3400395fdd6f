import torch
import torch.distributed as dist


def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        sink.names.append(dist.get_world_size())

    return hook
