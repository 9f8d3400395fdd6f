"""Training, on a device or on the CPU: prints the loss of each step as JSON. Arguments: cuda or cpu, then the model: mlp,
transformer (both alone; a cuda run compares its parameters with the CPU's), ddp, fsdp (under torchrun)."""

import copy
import json
import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F

STEPS = 20
place, kind = sys.argv[1:3]


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.before(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.after(x))))


class Transformer(torch.nn.Module):
    def __init__(self, words=32, width=32):
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.blocks = torch.nn.ModuleList(Block(width, 4) for _ in range(2))
        self.norm, self.head = torch.nn.LayerNorm(width), torch.nn.Linear(width, words)

    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 4))


def batches(is_mlp, rank=0):
    numbers = torch.Generator().manual_seed(1 + rank)
    for _ in range(STEPS):
        if is_mlp:
            yield torch.randn(16, 8, generator=numbers), torch.randint(0, 4, (16,), generator=numbers)
        else:
            ids = torch.randint(0, 32, (4, 17), generator=numbers)
            yield ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def train(model, data, where):
    # CUDA's default is the variant over lists, the CPU's is not: one for both, so that only the kernels differ.
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, foreach=False)
    losses = []
    for inputs, labels in data:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs.to(where)).flatten(0, -2), labels.to(where).flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def alone():
    torch.manual_seed(0)
    host = mlp() if kind == "mlp" else Transformer()
    device = copy.deepcopy(host).to(place)
    losses = train(device, batches(kind == "mlp"), place)
    train(host, batches(kind == "mlp"), "cpu")
    pairs = list(zip(host.parameters(), device.parameters()))
    equal = sum(torch.equal(h, d.cpu()) for h, d in pairs)
    apart = max((h - d.cpu()).abs().max().item() for h, d in pairs)
    return {"losses": [x.item() for x in losses], "equal": equal, "parameters": len(pairs), "apart": apart}


def parallel():
    rank = int(os.environ["RANK"])
    if place == "cuda":
        torch.cuda.set_device(rank)
    dist.init_process_group("nccl" if place == "cuda" else "gloo")
    torch.manual_seed(0)
    model = Transformer().to(place)
    if kind == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank] if place == "cuda" else None)
    else:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh(place, (dist.get_world_size(),))
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
    losses = torch.stack(train(model, batches(False, rank), place))
    dist.all_reduce(losses)
    result = {"losses": (losses / dist.get_world_size()).tolist()}
    dist.destroy_process_group()
    return result if rank == 0 else None


result = alone() if kind in ("mlp", "transformer") else parallel()
if result:
    print(json.dumps(result))
