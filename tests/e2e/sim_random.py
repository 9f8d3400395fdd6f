"""Random small programs, once on the CPU and once on the simulated device: the same numbers, and no crash. Arguments: the first
seed and how many; a program that differs is printed and the exit status is 1. Run under `hookwatch run --simulate`."""

import random
import sys
import warnings

import torch
import torch.nn.functional as F

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
# Largest difference of an element, relative to the largest of its tensor. The CPU's own kernels compute the values, so most are
# equal bit for bit; reductions over other strides and fused kernels round differently.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}

UNARY = "abs neg relu sigmoid tanh exp sin cos floor sqrt square sign erf log1p reciprocal isnan clone contiguous".split()
BINARY = "add sub mul maximum minimum lt ge eq atan2 where".split()
REDUCE = "sum mean amax amin std prod argmax any all norm cumsum softmax logsumexp sort topk median".split()
VIEW = "t flip reshape unsqueeze expand narrow select step diagonal unbind chunk roll movedim".split()
INDEX = "gather index_select mask take nonzero unique masked_fill index_put index_add where1 bincount searchsorted one_hot".split()
IN_PLACE = "add_ mul_ clamp_ zero_ copy_ fill_ masked_fill_ setitem addcmul_ sub_view".split()
NETWORK = "linear layer_norm attention cross_entropy conv embedding gelu cat stack matmul bmm einsum foreach dropout0 group_norm".split()
LINALG = "solve inv cholesky qr svdvals eigvalsh det fft rfft matrix_exp".split()
STREAM = "side event item cpu_and_back non_blocking pinned to_dtype empty_like grad grad2".split()


class Program:
    """One program; every choice comes from its seed, so that both devices run the same."""

    def __init__(self, seed, device):
        self.choose = random.Random(seed)
        self.numbers = torch.Generator().manual_seed(seed)
        self.device = device
        self.steps = []
        self.loose = 0.0  # the tolerance of what a fused kernel computed, for all that is computed from it
        self.values = [self.fresh() for _ in range(3)]

    def fresh(self, shape=None, dtype=None):
        shape = shape or [self.choose.randint(1, 6) for _ in range(self.choose.randint(1, 3))]
        data = torch.randn(shape, generator=self.numbers).to(dtype or self.choose.choice(FLOATS))
        return data.to(self.device)

    def like(self, x):
        return torch.randn(x.shape, generator=self.numbers).to(x.dtype).to(self.device)

    def integers(self, high, shape):
        return torch.randint(0, high, shape, generator=self.numbers).to(self.device)

    def pick(self):
        return self.choose.choice(self.values)

    def run(self):
        for _ in range(self.choose.randint(4, 10)):
            kind = self.choose.choice((UNARY, BINARY, REDUCE, VIEW, INDEX, IN_PLACE, NETWORK, LINALG, STREAM))
            name, x = self.choose.choice(kind), self.pick()
            self.steps.append(f"{name} {tuple(x.shape)} {x.dtype}")
            out = getattr(self, "do_" + name, lambda v: getattr(v, name)())(x)
            self.values += [out] if isinstance(out, torch.Tensor) else list(out or [])
        return [v.detach().cpu() for v in self.values]

    # ---- two operands ----
    def do_where(self, x):
        return torch.where(self.like(x) > 0, x, 0)

    def do_eq(self, x):
        return x.eq(x.clone())

    # ---- reductions ----
    def dim(self, x):
        return self.choose.randrange(x.dim()) if x.dim() else 0

    def do_std(self, x):
        return x.std(self.dim(x), correction=0)

    def do_argmax(self, x):
        return x.argmax(self.dim(x))

    def do_cumsum(self, x):
        return x.cumsum(self.dim(x))

    def do_softmax(self, x):
        return x.softmax(self.dim(x))

    def do_logsumexp(self, x):
        return x.logsumexp(self.dim(x))

    def do_sort(self, x):
        return x.sort(self.dim(x), stable=True)

    def do_topk(self, x):
        return x.flatten().topk(1).values if x.numel() else None

    def do_median(self, x):
        return x.flatten().median()

    # ---- views ----
    def do_t(self, x):
        return x.transpose(0, -1) if x.dim() else x

    def do_flip(self, x):
        return x.flip(self.dim(x)) if x.dim() else x

    def do_reshape(self, x):
        return x.reshape(-1)

    def do_unsqueeze(self, x):
        return x.unsqueeze(self.dim(x))

    def do_expand(self, x):
        return x.unsqueeze(0).expand(2, *x.shape)

    def do_narrow(self, x):
        return x.narrow(0, 0, (x.shape[0] + 1) // 2) if x.dim() else x

    def do_select(self, x):
        return x.select(0, -1) if x.dim() and x.shape[0] else x

    def do_step(self, x):
        return x[..., ::2] if x.dim() else x

    def do_diagonal(self, x):
        return x.diagonal() if x.dim() > 1 else x

    def do_unbind(self, x):
        return list(x.unbind(0))[:2] if x.dim() else None

    def do_chunk(self, x):
        return list(x.chunk(2, self.dim(x))) if x.dim() else None

    def do_roll(self, x):
        return x.roll(1, self.dim(x)) if x.dim() else x

    def do_movedim(self, x):
        return x.movedim(0, -1) if x.dim() else x

    # ---- indexing ----
    def do_gather(self, x):
        return x.flatten().gather(0, self.integers(x.numel(), (3,))) if x.numel() else None

    def do_index_select(self, x):
        return x.index_select(0, self.integers(x.shape[0], (3,))) if x.dim() and x.numel() else None

    def do_mask(self, x):
        return x[self.like(x) > 0]

    def do_take(self, x):
        return x.take(self.integers(x.numel(), (2, 2))) if x.numel() else None

    def do_nonzero(self, x):
        return (x > 0.3).nonzero()

    def do_unique(self, x):
        return x.unique(return_inverse=True, return_counts=True)

    def do_masked_fill(self, x):
        return x.masked_fill(x > 0, 0)

    def do_index_put(self, x):
        return x.flatten().index_put((self.integers(x.numel(), (3,)),), self.like(x.flatten()[:1]), accumulate=True) if x.numel() else None

    def do_index_add(self, x):
        flat = x.flatten()
        return flat.index_add(0, self.integers(flat.numel(), (flat.numel(),)), self.like(flat)) if x.numel() else None

    def do_where1(self, x):
        return list(torch.where(x > 0))

    def do_bincount(self, x):
        return (x.flatten().float().nan_to_num().abs().clamp(0, 9)).long().bincount(minlength=3)

    def do_searchsorted(self, x):
        flat = x.flatten().float().nan_to_num().sort().values
        return torch.searchsorted(flat, flat.mean().reshape(1)) if x.numel() else None

    def do_one_hot(self, x):
        return F.one_hot(x.flatten().float().nan_to_num().abs().clamp(0, 4).long()) if x.numel() else None

    # ---- in place, on views as well ----
    def own(self, x):
        """What an operation may write: expanded memory it may not."""
        return x if all(s or n == 1 for n, s in zip(x.shape, x.stride())) and not x.requires_grad and x.dtype in FLOATS else x.clone()

    def do_add_(self, x):
        return self.own(x).add_(1)

    def do_mul_(self, x):
        return self.own(x).mul_(2)

    def do_clamp_(self, x):
        return self.own(x).clamp_(0, 1)

    def do_zero_(self, x):
        return self.own(x).zero_()

    def do_copy_(self, x):
        return self.own(x).copy_(self.like(x))

    def do_fill_(self, x):
        return self.own(x).fill_(3)

    def do_masked_fill_(self, x):
        x = self.own(x)
        return x.masked_fill_(self.like(x) > 0, 1)

    def do_setitem(self, x):
        x = self.own(x)
        x[self.like(x) > 0] = 2
        return x

    def do_addcmul_(self, x):
        x = self.own(x)
        return x.addcmul_(self.like(x), self.like(x)) if x.dtype in FLOATS else x

    def do_sub_view(self, x):
        x = self.own(x)
        if x.dim():
            x[: (x.shape[0] + 1) // 2].sub_(1)
        return x

    # ---- networks ----
    def wide(self, x):
        """The values as a (rows, 4) matrix of a float type."""
        x = x if x.dtype in FLOATS else x.float()
        flat = x.nan_to_num(0, 1, -1).clamp(-4, 4).reshape(-1)
        return F.pad(flat, (0, -flat.numel() % 4 or 4 * (not flat.numel()))).reshape(-1, 4)

    def do_linear(self, x):
        x = self.wide(x)
        return F.linear(x, self.fresh((5, 4), x.dtype), self.fresh((5,), x.dtype))

    def do_layer_norm(self, x):
        x = self.wide(x)
        return F.layer_norm(x, (4,), self.fresh((4,), x.dtype))

    def do_group_norm(self, x):
        return F.group_norm(self.wide(x), 2)

    def do_attention(self, x):
        q = self.wide(x).reshape(1, 1, -1, 4)
        self.loose = max(self.loose, TOLERANCE[q.dtype])
        return F.scaled_dot_product_attention(q, q, q)

    def do_cross_entropy(self, x):
        x = self.wide(x)
        return F.cross_entropy(x, self.integers(4, (x.shape[0],)))

    def do_conv(self, x):
        x = self.wide(x).reshape(1, 4, -1)
        return F.conv1d(x, self.fresh((3, 4, 1), x.dtype))

    def do_embedding(self, x):
        return F.embedding(self.integers(6, (4,)), self.fresh((6, 3), torch.float32))

    def do_gelu(self, x):
        return F.gelu(self.wide(x))

    def do_cat(self, x):
        return torch.cat([x, x]) if x.dim() else None

    def do_stack(self, x):
        return torch.stack([x, self.like(x).to(x.dtype)])

    def do_matmul(self, x):
        x = self.wide(x)
        return x.T @ x

    def do_bmm(self, x):
        x = self.wide(x).unsqueeze(0)
        return torch.bmm(x.transpose(1, 2), x)

    def do_einsum(self, x):
        x = self.wide(x)
        return torch.einsum("ij,ik->jk", x, x)

    def do_foreach(self, x):
        return list(torch._foreach_mul([self.wide(x), self.fresh((3,), torch.float32)], 2.0))

    def do_dropout0(self, x):
        return F.dropout(self.wide(x), 0.0)

    # ---- linear algebra, on well-conditioned matrices ----
    def square(self, x):
        a = self.wide(x).double()
        return a.T @ a / a.shape[0] + torch.eye(4, dtype=torch.float64, device=self.device)

    def do_solve(self, x):
        return torch.linalg.solve(self.square(x), self.fresh((4, 2), torch.float64))

    def do_inv(self, x):
        return torch.linalg.inv(self.square(x))

    def do_cholesky(self, x):
        return torch.linalg.cholesky(self.square(x))

    def do_qr(self, x):
        return list(torch.linalg.qr(self.square(x)))

    def do_svdvals(self, x):
        return torch.linalg.svdvals(self.square(x))

    def do_eigvalsh(self, x):
        return torch.linalg.eigvalsh(self.square(x))

    def do_det(self, x):
        return torch.linalg.det(self.square(x))

    def do_matrix_exp(self, x):
        return torch.linalg.matrix_exp(self.square(x) / 8)

    def do_fft(self, x):
        return torch.view_as_real(torch.fft.fft(self.wide(x).float()))

    def do_rfft(self, x):
        return torch.fft.rfft(self.wide(x).float()).abs()

    # ---- streams, copies, autograd ----
    def do_side(self, x):
        if self.device == "cpu":
            return x * 2
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x * 2
        torch.cuda.current_stream().wait_stream(side)
        return y

    def do_event(self, x):
        y = x + 1
        if self.device != "cpu":
            event = torch.cuda.Event()
            event.record()
            event.synchronize()
        return y

    def do_item(self, x):
        return x + x.flatten()[0].item() if x.numel() and x.dtype != torch.bool else None

    def do_cpu_and_back(self, x):
        return x.to("cpu", copy=True).to(self.device)

    def do_non_blocking(self, x):
        host = x.to("cpu", non_blocking=True, copy=True)
        if self.device != "cpu":
            torch.cuda.synchronize()
        return host.to(self.device)

    def do_pinned(self, x):
        host = x.to("cpu", copy=True)
        return (host if self.device == "cpu" else host.pin_memory()).to(self.device, non_blocking=True)

    def do_to_dtype(self, x):
        return x.to(self.choose.choice(FLOATS))

    def do_empty_like(self, x):
        return torch.zeros_like(x) + torch.ones(x.shape, device=self.device).to(x.dtype)

    def do_grad(self, x):
        leaf = self.wide(x).detach().clone().requires_grad_()
        (leaf.tanh() * leaf).sum().backward()
        return leaf.grad

    def do_grad2(self, x):
        leaf = self.wide(x).detach().clone().requires_grad_()
        weight = self.fresh((3, 4), leaf.dtype).requires_grad_()
        return torch.autograd.grad(F.linear(leaf, weight).relu().square().mean(), (leaf, weight))


def _binary(name):
    return lambda self, x: getattr(x, name)(self.like(x))


for _name in "add sub mul maximum minimum lt ge atan2".split():
    setattr(Program, "do_" + _name, _binary(_name))


def difference(device, host):
    """Of two results, relative to their size; infinite where they are not of one kind."""
    if device.shape != host.shape or device.dtype != host.dtype:
        return float("inf")
    if not host.numel():
        return 0.0
    if host.dtype not in FLOATS:
        return float((device != host).sum())
    device, host = device.double().nan_to_num(7e77), host.double().nan_to_num(7e77)
    return float((device - host).abs().max() / max(host.abs().max(), 1e-3))


def attempt(seed, device):
    program = Program(seed, device)
    try:
        return program.run(), program
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}", program


def main(first, count):
    warnings.simplefilter("ignore")
    wrong = equal = results = refused = 0
    for seed in range(first, first + count):
        host, program = attempt(seed, "cpu")
        device, _ = attempt(seed, "cuda")
        if isinstance(host, str) or isinstance(device, str):
            refused += 1
            # What the CPU refuses (a type it has no kernel for) the device may compute; the reverse is a fault.
            if isinstance(device, str) and not isinstance(host, str):
                wrong += 1
                print(f"seed {seed}: {device}\n  " + "\n  ".join(program.steps))
            continue
        apart = [difference(d, h) for d, h in zip(device, host)]
        results += len(apart)
        equal += apart.count(0.0)
        bad = [i for i, (a, h) in enumerate(zip(apart, host)) if a > (max(TOLERANCE[h.dtype], program.loose) if h.dtype in FLOATS else 0.0)]
        if bad or len(device) != len(host):
            wrong += 1
            print(f"seed {seed}: value {bad[:1]} differs by {apart[bad[0]] if bad else 'length'}\n  " + "\n  ".join(program.steps))
    print(f"{count} programs, {results} results, {equal} equal bit for bit, {refused} refused, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
