"""What a program may do of its own beside value mode, and what must run: exits with an assertion where numbers are wrong. Two
devices. Argument `inductor` adds compiled kernels, which need Triton."""

import copy
import ctypes
import sys

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

simulator = ctypes.CDLL(None)
simulator.hw_sim_unvalued_count.restype = ctypes.c_uint64
t = torch.tensor([1.0, 4.0, 9.0]).cuda()


def modes():
    """The program's own modes see every operation, and its result."""
    seen, functions = [], []

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            seen.append((str(func), result.tolist() if isinstance(result, torch.Tensor) else result))
            return result

    class Function(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            functions.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Dispatch():
        assert (t.sqrt() + 1).sum().item() == 9.0
    assert [name for name, _ in seen][:3] == ["aten.sqrt.default", "aten.add.Tensor", "aten.sum.default"]
    assert [result for _, result in seen] == [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], 9.0, 9.0]
    with Function():
        assert (t * 2).tolist() == [2.0, 8.0, 18.0]
    assert functions[0] == "mul"


class Wrapper(torch.Tensor):
    """A subclass that holds another tensor and counts what is done to it."""

    calls = 0

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        Wrapper.calls += 1
        unwrap = lambda v: v.inner if isinstance(v, Wrapper) else v  # noqa: E731
        result = func(*map(unwrap, args), **(kwargs or {}))
        return Wrapper(result) if isinstance(result, torch.Tensor) else result


def subclasses():
    assert (Wrapper(t) * 2 + 1).inner.tolist() == [3.0, 9.0, 19.0] and Wrapper.calls == 2


def transforms():
    assert torch.vmap(lambda a: a * a + 1)(t).tolist() == [2.0, 17.0, 82.0]
    assert torch.func.grad(lambda a: (a**3).sum())(t).tolist() == [3.0, 48.0, 243.0]
    assert torch.func.jacrev(lambda a: a * a)(t).diagonal().tolist() == [2.0, 8.0, 18.0]
    assert torch.func.vmap(torch.func.grad(lambda a: a.sin()))(t * 0).tolist() == [1.0] * 3
    with torch.inference_mode():
        assert (t @ t).item() == 98.0
    layer, data = torch.nn.Linear(3, 2), torch.randn(4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        expected = layer(data)
    with torch.autocast("cuda", torch.bfloat16):
        assert torch.equal(copy.deepcopy(layer).cuda()(data.cuda()).cpu(), expected) and expected.dtype is torch.bfloat16


def devices():
    """A model over two devices, its gradient back across."""
    first, second, data = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.randn(5, 3)
    a, b = copy.deepcopy(first).to("cuda:0"), copy.deepcopy(second).to("cuda:1")
    out, expected = b(a(data.to("cuda:0")).to("cuda:1")), second(first(data))
    assert torch.equal(out.detach().cpu(), expected) and out.device.index == 1
    out.sum().backward()
    expected.sum().backward()
    assert torch.equal(a.weight.grad.cpu(), first.weight.grad)


def hooks():
    """A hook that removes itself while it runs, one on a tensor, one that changes a gradient."""
    layer, seen = torch.nn.Linear(3, 3).cuda(), []

    def once(module, inputs, output):
        seen.append(output.sum().item())
        handle.remove()

    handle = layer.register_forward_hook(once)
    out = layer(t)
    layer(t)
    assert seen == [out.sum().item()]
    x = t.clone().requires_grad_()
    x.register_hook(lambda g: g * 3)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [6.0] * 3


def layouts():
    """Compressed and nested tensors, and operators that read back what they computed."""
    dense = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    for to in ("to_sparse_csr", "to_sparse_csc"):
        sparse = getattr(dense.cuda(), to)()
        assert sparse.values().tolist() == [1.0, 2.0] and torch.equal(sparse.to_dense().cpu(), dense)
    assert (dense.cuda().to_sparse_csr() @ torch.ones(2, 1).cuda()).tolist() == [[1.0], [2.0]]
    assert torch.eye(4).cuda().to_sparse_bsr((2, 2)).values().shape == (2, 2, 2)
    ragged = torch.nested.nested_tensor([torch.ones(1, 2), torch.ones(2, 2) * 2], device="cuda")
    assert (ragged * 3).to_padded_tensor(0.0).tolist() == [[[3.0, 3.0], [0.0, 0.0]], [[6.0, 6.0], [6.0, 6.0]]]
    matrices = torch.randn(5, 3, 3)
    assert torch.equal(torch.linalg.matrix_exp(matrices.cuda()).cpu(), torch.linalg.matrix_exp(matrices))
    symmetric = matrices[0] @ matrices[0].T + torch.eye(3)
    assert torch.equal(torch.linalg.matrix_sqrth(symmetric.cuda()).cpu(), torch.linalg.matrix_sqrth(symmetric))
    assert torch.equal(torch.linalg.polar(symmetric.cuda())[1].cpu(), torch.linalg.polar(symmetric)[1])


def recurrent():
    """Dropout between layers: the backward drops what the forward dropped, so it is the derivative; another call drops another."""
    torch.manual_seed(0)
    net, x = torch.nn.LSTM(3, 4, 3, dropout=0.5).double().cuda(), torch.randn(5, 2, 3).double().cuda().requires_grad_()
    with torch.no_grad():
        assert not torch.equal(net(x)[0], net(x)[0])
        assert torch.equal(net.eval()(x)[0], net(x)[0])
    net.train()
    out = net(x)[0]
    out.sum().backward()
    assert x.grad.isfinite().all() and x.grad.abs().sum().item() > 0
    net.zero_grad()
    drops = net(x)[0].detach()
    assert drops.isfinite().all()


def losses():
    """A mode changes the kernel PyTorch takes for CTC: not here."""
    a, targets, sizes = torch.randn(5, 2, 8).log_softmax(-1), torch.ones(2, 2, dtype=torch.int64), [torch.tensor([5, 5]), torch.tensor([2, 2])]
    expected = F.ctc_loss(a, targets, *sizes)
    for where in ("cpu", "cuda"):
        found = F.ctc_loss(a.cuda(), targets.cuda(), *[s.to(where) for s in sizes])
        assert abs(found.item() - expected.item()) < 1e-6


def runs():
    image, kernel = torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3)
    assert torch.allclose(F.conv2d(image.cuda(), kernel.cuda()).cpu(), F.conv2d(image, kernel), atol=1e-6)
    assert torch.equal(torch.fft.rfft2(image.cuda()).cpu(), torch.fft.rfft2(image))
    layer = torch.nn.Linear(3, 2).cuda()
    optimizer, scaler = torch.optim.SGD(layer.parameters(), 0.1), torch.amp.GradScaler("cuda", init_scale=4.0)
    before = layer.bias.tolist()
    for value in (1.0, float("inf")):  # the second step is skipped, and the scale halved
        optimizer.zero_grad()
        scaler.scale((layer(t) * value).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 2.0
    assert all(abs(b - a - 0.1) < 1e-6 for a, b in zip(layer.bias.tolist(), before))


def compiled():
    """A compiled region is compiled: one graph, not eager; where operators are called inside it, their values are right."""
    from torch._dynamo.utils import counters

    layer = torch.nn.Linear(3, 3).cuda()
    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        counters.clear()
        x, y = t.clone().requires_grad_(), t.clone().requires_grad_()
        torch.compile(lambda v: F.gelu(layer(v)).sum(), backend=backend)(x).backward()
        F.gelu(layer(y)).sum().backward()
        assert counters["stats"]["unique_graphs"] == 1 and torch.equal(x.grad, y.grad)


def inductor():
    """Compiled kernels launch, forward and backward, and compute nothing: each launch is counted as without value."""
    layer = torch.nn.Linear(3, 3).cuda()
    function = torch.compile(lambda v: F.gelu(layer(v)).sum())
    function(t.clone().requires_grad_()).backward()
    before = simulator.hw_sim_unvalued_count()
    function(t.clone().requires_grad_()).backward()
    assert simulator.hw_sim_unvalued_count() - before == 3
    replayed = torch.compile(lambda v: (v * 2).relu().sum(), mode="reduce-overhead")
    for _ in range(4):
        replayed(t)
    assert simulator.hw_sim_unvalued_count() - before > 3


for check in (modes, subclasses, transforms, devices, hooks, layouts, recurrent, losses, runs, compiled):
    check()
assert simulator.hw_sim_unvalued_count() == 0
if sys.argv[1:] == ["inductor"]:
    inductor()
print("ok")
