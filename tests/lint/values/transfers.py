"""Memory moved between host and device."""
import numpy as np
import torch

CPU = torch.device("cpu")


def _make_move_hook(sink, pinned_pool):
    def hook(module, inputs, output):
        y = output.float()
        host = torch.zeros(4)
        pinned = torch.zeros(4).pin_memory()
        locked = torch.empty(4, pin_memory=True, device="cpu")
        here = torch.zeros(4, device=y.device)
        y.cpu()  #! HW102
        y.to(CPU)  #! HW102
        y.to("cpu", non_blocking=False)  #! HW102
        y.detach().to("cpu", non_blocking=True)  #! HW102
        host.to(y.device)  #! HW107
        host.cuda()  #! HW107
        host.to(torch.float16)
        host.cpu()
        host.item()
        if host.sum() > 0:
            host.tolist()
        pinned.to(y.device, non_blocking=True)
        pinned.cuda(non_blocking=True)
        pinned.cuda()  #! HW107
        locked.copy_(y, non_blocking=True)  #! HW102
        host.copy_(y)  #! HW102
        y.copy_(host)  #! HW107
        here.copy_(y)
        pinned_pool.copy_(y)
        torch.tensor([1.0], device="cuda")  #! HW107
        torch.tensor([1.0])
        torch.tensor([1.0], device="cpu")
        torch.tensor([y.sum(), y.mean()])  #! HW101
        torch.stack([y.sum(), y.mean()])
        torch.full((), 3.0, device=y.device)
        torch.full((), y.sum(), device=y.device)  #! HW101
        y.new_tensor([1.0])  #! HW107
        y.new_zeros(3)
        np.mean(y)  #! HW102
        np.mean([1, 2])
        torch.save(y, "f")  #! HW102
        y.type(torch.float16)
        y.type("torch.FloatTensor")  #! HW102
        kept = y.cpu()  #! HW102
        kept.numpy().tolist()
        if kept.sum() > 0:
            float(kept.mean())

    return hook
