"""Every form of host wait, in a forward and in a backward hook. A comment names the code that its line must get, and nothing else
of this file or of forms_helper.py may get one. Argument `one-thread`: backward runs on the main thread."""

import sys

import torch
import torch.distributed as dist

import forms_helper

taken = []


def _make_item_hook():
    def hook(module, inputs, output):
        taken.append(first(output).abs().max().item())  # HW101

    return hook


def _make_float_hook():
    def hook(module, inputs, output):
        taken.append(float(first(output).sum()))  # HW101

    return hook


def _make_branch_hook():
    def hook(module, inputs, output):
        if first(output).abs().sum() > 0:  # HW103
            taken.append("positive")

    return hook


def _make_fstring_hook():
    def hook(module, inputs, output):
        taken.append(f"mean {first(output).mean()}")  # HW105

    return hook


def _make_cpu_hook():
    def hook(module, inputs, output):
        taken.append(first(output).flatten()[:4].cpu())  # HW102

    return hook


def _make_reduce_hook():
    def hook(module, inputs, output):
        total = first(output).sum()
        dist.all_reduce(total)  # HW201

    return hook


def _make_upload_hook():
    def hook(module, inputs, output):
        zero = torch.tensor(0.0, device="cuda")  # HW107
        taken.append(zero + first(output).sum())

    return hook


def _make_helper_hook():
    def hook(module, inputs, output):
        taken.append(forms_helper.spread(first(output)))

    return hook


def _make_innocent_hook():
    def hook(module, inputs, output):
        t = first(output)
        taken.append(t.detach().abs().amax())
        taken.append(f"{t.shape} {t.dtype} {t.numel()}")
        if t.dim() > 1 and t.is_cuda:
            taken.append(t.shape[0] * 2)

    return hook


def first(value):
    """A forward hook gets a tensor, a backward hook a tuple of gradients."""
    return (value[0] if isinstance(value, tuple) else value).detach()


FACTORIES = [
    _make_item_hook,
    _make_float_hook,
    _make_branch_hook,
    _make_fstring_hook,
    _make_cpu_hook,
    _make_reduce_hook,
    _make_upload_hook,
    _make_helper_hook,
    _make_innocent_hook,
]


def main():
    torch.manual_seed(0)
    if "one-thread" in sys.argv:
        torch.autograd.set_multithreading_enabled(False)
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)).cuda()
    for factory in FACTORIES:
        model[0].register_forward_hook(factory())
        model[2].register_full_backward_hook(factory())
    x = torch.randn(4, 8, device="cuda", requires_grad=True)
    for _ in range(3):
        model(x).sum().backward()
    print(len(taken), "taken")
    dist.destroy_process_group()


main()
