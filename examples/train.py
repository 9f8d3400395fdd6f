"""Trains a small model with a monitor on its layers: python examples/train.py, or torchrun --nproc-per-node 2 examples/train.py."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bad_monitor import BadMonitor
from good_monitor import GoodMonitor


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.layers = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--monitor", choices=["good", "bad", "both", "none"], default="both")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()

    if not torch.cuda.is_available():
        raise SystemExit("train.py: no CUDA device: start it with `hookwatch run --simulate -- python examples/train.py`")
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    torch.cuda.set_device(device)
    torch.manual_seed(rank)
    if world > 1:
        dist.init_process_group("nccl")
    elif args.monitor in ("bad", "both"):
        # The bad monitor reduces over ranks, also when there is only one.
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)

    model = Model(args.depth, args.width).to(device)
    monitors = []
    if args.monitor in ("good", "both"):
        monitors.append(GoodMonitor())
    if args.monitor in ("bad", "both"):
        monitors.append(BadMonitor())
    for monitor in monitors:
        monitor.register_hooks(model)
    trained = DistributedDataParallel(model, device_ids=[device.index]) if world > 1 else model
    optimizer = torch.optim.AdamW(trained.parameters(), lr=1e-3)

    for step in range(args.steps):
        x = torch.randn(args.batch, args.width, device=device)
        loss = nn.functional.mse_loss(trained(x), x.sum(dim=1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metrics = {}
        for monitor in monitors:
            metrics.update(monitor.step())
        if rank == 0:
            print(f"step {step}: loss {loss.item():.4f}, {len(metrics)} metrics")

    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
