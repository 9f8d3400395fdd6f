"""Collectives between the ranks of one machine, in a hook and outside, with their values checked. Started by torchrun."""

import os

import torch
import torch.distributed as dist


def _make_mean_hook():
    def hook(module, inputs, output):
        total = output.detach().sum()
        dist.all_reduce(total)

    return hook


rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")

ones = torch.full((5,), rank + 1.0, device="cuda")
dist.all_reduce(ones)
assert ones.tolist() == [world * (world + 1) / 2] * 5, ones

first = torch.tensor([rank, 7], device="cuda")
dist.broadcast(first, src=world - 1)
assert first.tolist() == [world - 1, 7], first

parts = [torch.zeros(2, device="cuda") for _ in range(world)]
dist.all_gather(parts, torch.full((2,), float(rank), device="cuda"))
assert [part.tolist() for part in parts] == [[r, r] for r in range(world)], parts

dist.barrier()
layer = torch.nn.Linear(4, 4).cuda()
layer.register_forward_hook(_make_mean_hook())
for _ in range(2):
    layer(torch.ones(2, 4, device="cuda"))
torch.cuda.synchronize()
print(f"rank {rank} of {world}: ok")
dist.destroy_process_group()
