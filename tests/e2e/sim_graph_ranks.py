"""A collective and a copy inside a CUDA graph: each launch of the graph does them with what the buffers hold then."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank)
x, y = torch.ones(1000, device="cuda"), torch.zeros(1000, device="cuda")
dist.all_reduce(x)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    dist.all_reduce(x)
    y.copy_(x)
torch.cuda.synchronize()
assert x.eq(world).all() and y.eq(0).all()
for step in range(3):
    x.fill_(rank + step)
    graph.replay()
    assert y.tolist() == [float(sum(r + step for r in range(world)))] * 1000, (step, y[0])
dist.destroy_process_group()
print(f"rank {rank}\n", end="")
