"""Numbers on the simulated stack against the CPU's own: exits with an assertion where they differ. Run under
`hookwatch run --simulate`."""

import copy
import threading

import torch
import torch.nn.functional as F


def same(device, host, tolerance=0.0):
    difference = (device.detach().cpu().double() - host.detach().double()).abs().max().item()
    assert difference <= tolerance, f"{difference} > {tolerance}"


def adamw():
    """20 steps of an MLP: parameters bit for bit those of the CPU."""
    torch.manual_seed(0)
    host = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 4))
    device = copy.deepcopy(host).cuda()
    optimizers = [torch.optim.AdamW(m.parameters(), lr=1e-2, foreach=False) for m in (host, device)]
    for _ in range(20):
        data, labels = torch.randn(16, 8), torch.randint(0, 4, (16,))
        for model, optimizer, place in zip((host, device), optimizers, ("cpu", "cuda")):
            optimizer.zero_grad()
            F.cross_entropy(model(data.to(place)), labels.to(place)).backward()
            optimizer.step()
    for h, d in zip(host.parameters(), device.parameters()):
        same(d, h)


def attention():
    """Every kernel behind scaled_dot_product_attention, forward and backward."""
    torch.manual_seed(1)
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.float16, 5e-2)):
        for causal in (False, True):
            host = [torch.randn(2, 4, 16, 64, requires_grad=True) for _ in range(3)]
            device = [t.detach().to("cuda", dtype).requires_grad_() for t in host]
            h = F.scaled_dot_product_attention(*host, is_causal=causal)
            d = F.scaled_dot_product_attention(*device, is_causal=causal)
            same(d, h, tolerance)
            h.square().sum().backward()
            d.float().square().sum().backward()
            for th, td in zip(host, device):
                same(td.grad, th.grad, tolerance)


def networks():
    torch.manual_seed(2)
    for module, data in (
        (torch.nn.Conv2d(3, 8, 3, padding=1), torch.randn(2, 3, 8, 8)),
        (torch.nn.BatchNorm2d(3), torch.randn(4, 3, 8, 8)),
        (torch.nn.LSTM(4, 5, 2), torch.randn(3, 2, 4)),
        (torch.nn.GRU(4, 5, bidirectional=True), torch.randn(3, 2, 4)),
        (torch.nn.RMSNorm(16), torch.randn(3, 16)),
        (torch.nn.Embedding(10, 4), torch.arange(10)),
    ):
        host, device = module, copy.deepcopy(module).cuda()
        h, d = host(data), device(data.cuda())
        h, d = (h[0], d[0]) if isinstance(h, tuple) else (h, d)
        same(d, h, 1e-5)
        h.square().sum().backward()
        d.square().sum().backward()
        for th, td in zip(host.parameters(), device.parameters()):
            same(td.grad, th.grad, 1e-4)


def shapes():
    """Operations whose result's shape is data."""
    x = torch.tensor([3.0, 0.0, 5.0, 0.0, 3.0])
    d = x.cuda()
    assert d.nonzero().tolist() == x.nonzero().tolist()
    assert d[d > 1].tolist() == [3.0, 5.0, 3.0]
    assert d.unique().tolist() == [0.0, 3.0, 5.0]
    assert torch.masked_select(d, d > 4).tolist() == [5.0]
    assert torch.bincount(d.long()).tolist() == [2, 0, 0, 2, 0, 1]
    assert d.repeat_interleave(torch.tensor([2, 0, 1, 0, 0]).cuda()).tolist() == [3.0, 3.0, 5.0]
    assert F.one_hot(d.long()).shape == (5, 6)
    d[d == 0] = -1.0
    assert d.tolist() == [3.0, -1.0, 5.0, -1.0, 3.0]
    assert torch.equal(d, d.clone()) and not torch.equal(d, -d)
    sparse = x.cuda().to_sparse()
    assert sparse.coalesce().values().tolist() == [3.0, 5.0, 3.0]
    assert torch.linalg.solve(torch.eye(3).cuda() * 2, torch.ones(3).cuda()).tolist() == [0.5] * 3
    same(torch.fft.ifft(x.cuda()).imag, torch.fft.ifft(x).imag, 1e-6)
    assert torch.histc(d, 3).tolist() == [2.0, 0.0, 3.0]
    assert torch.linalg.svdvals(torch.diag(torch.tensor([3.0, 2.0])).cuda()).tolist() == [3.0, 2.0]


def random_numbers():
    """The CUDA generator decides, the CPU's is left alone, and a saved state gives the same mask again."""
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    device = torch.rand(4, device="cuda"), torch.randn(1000, device="cuda")
    assert torch.equal(torch.rand(4), expected)
    assert abs(device[1].mean().item()) < 0.2 and 0.8 < device[1].std().item() < 1.2
    assert not torch.equal(torch.rand(4, device="cuda"), device[0])
    state = torch.cuda.get_rng_state()
    first = F.dropout(torch.ones(64, device="cuda"), 0.5)
    torch.cuda.set_rng_state(state)
    assert torch.equal(F.dropout(torch.ones(64, device="cuda"), 0.5), first)
    assert set(first.tolist()) == {0.0, 2.0}


def threads():
    results = []

    class Own(threading.Thread):
        def run(self):
            results.append((torch.arange(5.0).cuda() * 2).sum().item())

    started = [Own(), threading.Thread(target=lambda: results.append(torch.ones(7).cuda().sum().item()))]
    for t in started:
        t.start()
    for t in started:
        t.join()
    assert sorted(results) == [7.0, 20.0], results


def streams():
    side, x = torch.cuda.Stream(), torch.ones(8, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 3
    torch.cuda.current_stream().wait_stream(side)
    assert y.sum().item() == 24.0
    host = torch.empty(8, pin_memory=True)
    host.copy_(y, non_blocking=True)
    torch.cuda.synchronize()
    assert host.tolist() == [3.0] * 8


def branches():
    """What the host decides from device values: any and all stop early, cond takes the right side, fakes stay fake."""
    t = torch.tensor([0.0, 2.0]).cuda()
    assert any(t) and not all(t) and max(t).item() == 2.0 and f"{t.max():.1f}" == "2.0" and str(t[1]) == "tensor(2., device='cuda:0')"
    assert torch.cond(t[1] > 1, lambda a: a + 1, lambda a: a - 1, (t,)).tolist() == [1.0, 3.0]
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert (torch.ones(3, device="cuda") + 1).shape == (3,)

    class Named(torch.Tensor):
        pass

    assert (t.as_subclass(Named) + 1).tolist() == [1.0, 3.0]


def inference():
    layer = torch.nn.MultiheadAttention(16, 2).eval()
    data = torch.randn(3, 1, 16)
    with torch.inference_mode():
        expected = layer(data, data, data)[0]
        device = copy.deepcopy(layer).cuda()
        same(device(*[data.cuda()] * 3)[0], expected, 1e-5)
        assert torch.linalg.pinv(torch.eye(2).cuda() * 4).tolist() == [[0.25, 0.0], [0.0, 0.25]]
        assert torch.tensor([1.0, 3.0]).cuda().max().item() == 3.0


def expandable():
    """The same numbers from memory mapped piece by piece."""
    torch.cuda.memory._set_allocator_settings("expandable_segments:True")
    torch.cuda.empty_cache()
    x = torch.arange(3_000_000.0).cuda()
    assert (x * 2)[-1].item() == 2 * 2_999_999.0
    del x
    torch.cuda.empty_cache()
    torch.cuda.memory._set_allocator_settings("expandable_segments:False")


for check in (adamw, attention, networks, shapes, random_numbers, threads, streams, branches, inference, expandable):
    check()
print("ok")
