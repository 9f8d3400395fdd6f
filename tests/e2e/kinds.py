"""Every way torch calls a function of ours. `# HOOK` ends a line that waits inside a hook; no other line may be blamed."""

import os
import sys

import torch
import torch.distributed as dist
from torch.utils.checkpoint import checkpoint

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[1])
torch.cuda.set_device(0)
dist.init_process_group("nccl", rank=0, world_size=1)


def block():
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).cuda()


def decorated(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class Probe:
    @torch.no_grad()
    def bound(self, module, inputs, output):
        self.value = output.sum().item()  # HOOK

    def __call__(self, module, inputs, output):
        self.value = output.sum().item()  # HOOK

    def _make_nested_hook(self):
        def hook(module, inputs, output):
            def read():
                return output.sum().item()  # HOOK

            self.value = read()

        return hook


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = block()

    @decorated
    def forward(self, x):
        y = self.block(x)
        y.sum().item()  # a forward is no hook
        return y


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.sum().item()
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        grad.sum().item()  # nor is a custom function
        return 2 * grad


def pre(module, args):
    args[0].sum().item()  # HOOK


def with_kwargs(module, args, kwargs, output):
    output.sum().item()  # HOOK


def full_backward(module, grad_input, grad_output):
    grad_output[0].sum().item()  # HOOK


def full_backward_pre(module, grad_output):
    grad_output[0].sum().item()  # HOOK


def old_backward(module, grad_input, grad_output):
    grad_output[0].sum().item()  # HOOK


def on_tensor(grad):
    grad.sum().item()  # HOOK


def on_node(grad_inputs, grad_outputs):
    grad_outputs[0].sum().item()  # HOOK


def on_parameter(parameter):
    parameter.grad.sum().item()  # HOOK


def on_many(grads):
    grads[0].sum().item()  # HOOK


def everywhere(module, inputs, output):
    if isinstance(module, Net):
        output.sum().item()  # HOOK


def on_state(module, state, prefix, metadata):
    state["0.weight"].sum().item()


def before_load(module, *rest):
    rest[0]["0.weight"].sum().item()


def communicate(state, bucket):
    bucket.buffer().sum().item()
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def run(net, x):
    net(x).sum().backward()


probe = Probe()
net = Net()
x = torch.randn(4, 8, device="cuda", requires_grad=True)
inner = net.block[0]
inner.register_forward_hook(probe.bound)
inner.register_forward_hook(probe)
inner.register_forward_hook(probe._make_nested_hook())
inner.register_forward_hook(lambda module, inputs, output: None if output.sum().item() else None)  # HOOK
inner.register_forward_pre_hook(pre)
inner.register_forward_hook(with_kwargs, with_kwargs=True)
net.block.register_full_backward_hook(full_backward)
net.block.register_full_backward_pre_hook(full_backward_pre)
torch.nn.modules.module.register_module_forward_hook(everywhere)
x.register_hook(on_tensor)
inner.weight.register_post_accumulate_grad_hook(on_parameter)
torch.autograd.graph.register_multi_grad_hook((inner.weight, inner.bias), on_many)
run(net, x)
with torch.autograd.set_multithreading_enabled(False):
    run(net, x)
for reentrant in (True, False):
    checkpoint(net, x, use_reentrant=reentrant).sum().backward()

y = Double.apply(x)
y.grad_fn.register_hook(on_node)
y.sum().backward()
old = torch.nn.Linear(8, 8).cuda()
old.register_backward_hook(old_backward)
old(x).sum().backward()

plain = block()
plain.register_state_dict_post_hook(on_state)
plain.register_load_state_dict_pre_hook(before_load)
plain.load_state_dict(plain.state_dict())
parallel = torch.nn.parallel.DistributedDataParallel(block(), device_ids=[0])
parallel.register_comm_hook(None, communicate)
run(parallel, x)

printed = block()
printed.register_forward_hook(print)  # a hook without a line of its own
printed(x)
dist.destroy_process_group()
