import torch.distributed as dist


def _make_x_hook(sink, group):
    def hook(grad):
        # TP shards the channels, so the
        # per-channel maximum needs all ranks.
        dist.all_reduce(grad, group=group)
        dist.all_reduce(grad)  # the vocabulary is sharded
        dist.all_reduce(grad)  # noqa: E501
        # hookwatch: allow HW201 -- said already
        dist.all_reduce(grad)
        dist.all_reduce(grad)
        # é日😀 sharded
        dist.all_gather(
            sink.parts,
            grad,
        )

    return hook
