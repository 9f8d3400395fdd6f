"""Operators that exist on CUDA only, computed from ones the CPU has. Each takes the operator's own arguments as CPU tensors and
returns its results in order; None stands for a result that nothing computes with (random-number state, workspaces)."""

import collections
import itertools
import threading

import torch

aten = torch.ops.aten


# ---- scaled dot product attention: one plain computation behind four kernels ----
def _expand_heads(q, t):
    """Grouped queries share keys and values: (batch, heads, length, width)."""
    return t if t.shape[-3] == q.shape[-3] else t.repeat_interleave(q.shape[-3] // t.shape[-3], dim=-3)


def _weights(q, k, bias, causal, scale):
    """Softmax weights in the precision attention kernels accumulate in, and the log of their sums."""
    scores = q.float() @ k.float().transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        length, keys = scores.shape[-2:]
        scores = scores.masked_fill(torch.ones(length, keys, dtype=torch.bool).triu(1), float("-inf"))
    if bias is not None:
        scores = scores + bias
    return scores.softmax(-1).nan_to_num(0.0), scores.logsumexp(-1)


def _kept(shape, p, seed):
    """What dropout keeps, scaled; the same seed gives the same mask to forward and backward."""
    generator = torch.Generator().manual_seed(int(seed) & 0x7FFFFFFFFFFFFFFF)
    return (torch.rand(shape, generator=generator) >= p).float() / (1 - p)


def _plain(q, k, bias, p):
    """Whether the CPU's own fused kernel computes this: then the numbers are those of a CPU run, bit for bit."""
    return not p and q.dim() == 4 and q.shape[1] == k.shape[1] and q.numel() and k.numel() and (bias is None or bias.dim() == 4)


def _attend(q, k, v, bias, p, causal, scale):
    if _plain(q, k, bias, p):
        out, sums = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal, attn_mask=bias, scale=scale)
        return out, sums, None
    seed = torch.default_generator.initial_seed()
    weights, sums = _weights(q, _expand_heads(q, k), bias, causal, scale)
    if p:
        weights = weights * _kept(weights.shape, p, seed)
    return (weights @ _expand_heads(q, v).float()).to(q.dtype), sums, torch.tensor(seed & 0x7FFFFFFFFFFFFFFF)


def _attend_backward(grad, q, k, v, bias, p, causal, scale, seed):
    if _plain(q, k, bias, p) and bias is None:
        out, sums = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal, scale=scale)
        return *aten._scaled_dot_product_flash_attention_for_cpu_backward(
            grad, q, k, v, out, sums, 0.0, causal, scale=scale
        ), None
    wide_k, wide_v, grad = _expand_heads(q, k), _expand_heads(q, v), grad.float()
    weights, _ = _weights(q, wide_k, bias, causal, scale)
    kept = _kept(weights.shape, p, seed) if p else 1.0
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    by_weight = (grad @ wide_v.float().transpose(-1, -2)) * kept
    by_score = weights * (by_weight - (by_weight * weights).sum(-1, keepdim=True))

    def narrow(g, like):
        if g.shape != like.shape:
            g = g.unflatten(-3, (like.shape[-3], -1)).sum(-3)
        return g.to(like.dtype)

    gq = (by_score @ wide_k.float() * factor).to(q.dtype)
    gk = narrow(by_score.transpose(-1, -2) @ q.float() * factor, k)
    gv = narrow((weights * kept).transpose(-1, -2) @ grad, v)
    gbias = by_score.sum_to_size(bias.shape).to(bias.dtype) if bias is not None and bias.numel() else None
    return gq, gk, gv, gbias


def _some(bias):
    return bias if bias is not None and bias.numel() else None


def efficient_attention(q, k, v, bias, sums_wanted, p=0.0, causal=False, *, scale=None):
    out, _, seed = _attend(q, k, v, _some(bias), p, causal, scale)
    return out, None, seed if p else None, None


def efficient_attention_backward(grad, q, k, v, bias, out, sums, seed, offset, p, mask, causal=False, *, scale=None):
    return _attend_backward(grad, q, k, v, _some(bias), p, causal, scale, seed if p else 0)


def flash_attention(q, k, v, p=0.0, causal=False, debug=False, *, scale=None):
    out, sums, seed = _attend(q, k, v, None, p, causal, scale)
    return out, sums, None, None, None, None, torch.stack([seed, torch.zeros_like(seed)]) if p else None, None, None


def flash_attention_backward(grad, q, k, v, out, sums, cq, ck, mq, mk, p, causal, seed, offset, *, scale=None):
    return _attend_backward(grad, q, k, v, None, p, causal, scale, seed.flatten()[0] if p else 0)[:3]


def cudnn_attention(q, k, v, bias, sums_wanted, p=0.0, causal=False, debug=False, *, scale=None):
    out, _, seed = _attend(q, k, v, _some(bias), p, causal, scale)
    return out, None, None, None, None, None, seed if p else None, None, None


def cudnn_attention_backward(
    grad, q, k, v, out, sums, seed, offset, bias, cq, ck, mq, mk, p, causal, *, scale=None
):
    return _attend_backward(grad, q, k, v, _some(bias), p, causal, scale, seed if p else 0)[:3]


# ---- normalisation ----
def cudnn_batch_norm(x, weight, bias, mean, var, training, factor, eps):
    out, save_mean, save_invstd = aten.native_batch_norm(x, weight, bias, mean, var, training, factor, eps)
    return out, save_mean, save_invstd, None


def cudnn_batch_norm_backward(x, grad, weight, mean, var, save_mean, save_invstd, eps, reserve):
    return aten.native_batch_norm_backward(grad, x, weight, mean, var, save_mean, save_invstd, True, eps, [True, True, True])


def batch_norm_stats(x, eps):
    over = [d for d in range(x.dim()) if d != 1]
    wide = x.float()
    return wide.mean(over), (wide.var(over, unbiased=False) + eps).rsqrt()


def batch_norm_elemt(x, weight, bias, mean, invstd, eps):
    shape = [1, -1] + [1] * (x.dim() - 2)
    out = (x.float() - mean.reshape(shape)) * invstd.reshape(shape)
    if weight is not None:
        out = out * weight.reshape(shape)
    if bias is not None:
        out = out + bias.reshape(shape)
    return out.to(x.dtype)


def batch_norm_gather(x, mean, invstd, running_mean, running_var, momentum, eps, counts):
    counts = counts.float().reshape(-1, 1)
    total = counts.sum()
    all_mean = (mean * counts).sum(0) / total
    var = ((invstd.reciprocal().square() - eps + (mean - all_mean).square()) * counts).sum(0) / total
    if running_mean is not None:
        running_mean.mul_(1 - momentum).add_(all_mean.to(running_mean.dtype), alpha=momentum)
    if running_var is not None:
        running_var.mul_(1 - momentum).add_((var * total / (total - 1)).to(running_var.dtype), alpha=momentum)
    return all_mean, (var + eps).rsqrt()


def batch_norm_backward_reduce(grad, x, mean, invstd, weight, input_g, weight_g, bias_g):
    over, shape = [d for d in range(x.dim()) if d != 1], [1, -1] + [1] * (x.dim() - 2)
    grad = grad.float()
    sum_dy, sum_dy_xmu = grad.sum(over), (grad * (x.float() - mean.reshape(shape))).sum(over)
    like = torch.float32 if weight is None else weight.dtype
    return sum_dy, sum_dy_xmu, (sum_dy_xmu * invstd).to(like) if weight_g else None, sum_dy.to(like) if bias_g else None


def batch_norm_backward_elemt(grad, x, mean, invstd, weight, sum_dy, sum_dy_xmu, count):
    shape = [1, -1] + [1] * (x.dim() - 2)
    total = count.sum().float()
    by_x = (x.float() - mean.reshape(shape)) * (invstd.square() * sum_dy_xmu / total).reshape(shape)
    scale = invstd if weight is None else invstd * weight.float()
    return ((grad.float() - (sum_dy / total).reshape(shape) - by_x) * scale.reshape(shape)).to(x.dtype)


def rms_norm_backward(grad, x, shape, rstd, weight, mask):
    over = list(range(x.dim() - len(shape), x.dim()))
    wide, normal = grad.float(), x.float() * rstd
    scaled = wide if weight is None else wide * weight.float()
    gx = rstd * (scaled - normal * (scaled * normal).mean(over, keepdim=True))
    rest = list(range(x.dim() - len(shape)))
    gw = (wide * normal).sum(rest) if rest else wide * normal
    return gx.to(x.dtype) if mask[0] else None, gw.to(weight.dtype) if mask[1] and weight is not None else None


# ---- recurrent cells ----
def lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    gates = input_gates + hidden_gates
    for bias in (input_bias, hidden_bias):
        gates = gates if bias is None else gates + bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def _recurrent(x, weights, per_layer, hx, cx, mode, layers, batch_first, dropout, train, both, sizes, seed=0):
    """(output, last state, last cell) of a cuDNN network; mode 0 relu, 1 tanh, 2 LSTM, 3 GRU. `weights` is flat, layer by layer;
    with dropout the layers are run one by one, and the same seed drops the same."""
    name = ("rnn_relu", "rnn_tanh", "lstm", "gru")[mode]
    directions = 2 if both else 1

    def run(x, weights, states, layers):
        state = states if mode == 2 else states[0]
        if sizes:
            return getattr(aten, name).data(
                x, torch.tensor(sizes), state, weights, per_layer >= 4, layers, 0.0, train, both
            )
        return getattr(aten, name).input(x, state, weights, per_layer >= 4, layers, 0.0, train, both, batch_first)

    states = [hx, cx] if mode == 2 else [hx]
    if not (dropout and train) or layers == 1:
        out, *last = run(x, weights, states, layers)
    else:
        out, lasts, width = x, [], per_layer * directions
        for layer in range(layers):
            if layer:
                out = out * _kept(out.shape, dropout, seed + layer)
            mine = [t[layer * directions : (layer + 1) * directions] for t in states]
            out, *last = run(out, weights[layer * width : (layer + 1) * width], mine, 1)
            lasts.append(last)
        last = [torch.cat(t) for t in zip(*lasts)]
    return out, last[0], last[1] if mode == 2 else None


# What was dropped: seeds of the latest forward passes, by their output, which is all that the backward is given of them.
_seeds = collections.OrderedDict()
_calls = itertools.count(0, 64)


def _remember(out, seed):
    _seeds[hash(out.numpy().tobytes())] = seed
    while len(_seeds) > 4096:
        _seeds.popitem(last=False)


def cudnn_rnn(
    x, weights, per_layer, packed, hx, cx, mode, hidden, projected, layers, batch_first, dropout, train, both, sizes, drop_state
):
    seed = torch.default_generator.initial_seed() + next(_calls)  # cuDNN keeps a state of its own, which moves on
    out = _recurrent(x, weights, per_layer, hx, cx, mode, layers, batch_first, dropout, train, both, sizes, seed)
    if dropout and train:
        _remember(out[0], seed)
    return *out, None, None


def cudnn_rnn_backward(
    x, weights, per_layer, packed, hx, cx, out, grad_out, grad_hy, grad_cy, mode, hidden, projected, layers, batch_first,
    dropout, train, both, sizes, drop_state, reserve, mask,
):  # fmt: skip
    leaves = [t.detach().clone().requires_grad_() for t in (x, hx, *([cx] if mode == 2 else []), *weights)]
    first = 3 if mode == 2 else 2
    seed = _seeds.get(hash(out.numpy().tobytes()), None) if dropout and train else 0
    if seed is None:
        raise NotImplementedError("the forward pass is too long ago to drop what it dropped")

    def again():
        cell = leaves[2] if mode == 2 else None
        results = _recurrent(
            leaves[0], leaves[first:], per_layer, leaves[1], cell, mode, layers, batch_first, dropout, train, both, sizes, seed
        )
        pairs = [(r, g) for r, g in zip(results, (grad_out, grad_hy, grad_cy)) if r is not None and g is not None]
        return torch.autograd.grad([r for r, _ in pairs], leaves, [g for _, g in pairs], allow_unused=True)

    grads = [torch.zeros_like(t) if g is None else g for t, g in zip(leaves, _with_autograd(again))]
    return grads[0], grads[1], grads[2] if mode == 2 else None, grads[first:]


def _with_autograd(function):
    """Inside a dispatch mode autograd is off for this thread; a thread of its own has it."""
    result = []

    def run():
        try:
            with torch.enable_grad():
                result.append(function())
        except Exception as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(result[0], Exception):
        raise result[0]
    return result[0]


# ---- products with an output type of their own ----
def mm_dtype(a, b, dtype):
    return (a.float() @ b.float()).to(dtype)


def addmm_dtype(c, a, b, dtype, *, beta=1, alpha=1):
    return (beta * c.float() + alpha * (a.float() @ b.float())).to(dtype)


def fused_dropout(x, keep, generator=None):
    mask = torch.rand(x.shape) < keep
    return x * mask / keep, mask.to(torch.uint8)


def masked_scale(x, mask, scale):
    return x * mask * scale


def grid_sampler(x, grid):
    return aten.grid_sampler_2d(x, grid, 0, 0, True)


def grid_sampler_backward(x, grid, grad):
    return aten.grid_sampler_2d_backward(grad, x, grid, 0, 0, True, [True, True])


def convolution(x, weight, padding, stride, dilation, groups, *tuning):
    return aten.convolution(x, weight, None, stride, padding, dilation, False, [0] * (x.dim() - 2), groups)


def convolution_relu(x, weight, bias, stride, padding, dilation, groups):
    return aten.convolution(x, weight, bias, stride, padding, dilation, False, [0] * (x.dim() - 2), groups).relu()


def depthwise(x, weight, size, bias, stride, padding, dilation):
    return aten.convolution(x, weight, bias, stride, padding, dilation, False, [0] * (x.dim() - 2), x.shape[1])


def assert_async(condition, message=None):
    """On a device the check happens later and ends the process; that is not simulated."""


# Operator (overload where it matters) -> its substitute.
TABLE = {
    "aten::_scaled_dot_product_efficient_attention": efficient_attention,
    "aten::_scaled_dot_product_efficient_attention_backward": efficient_attention_backward,
    "aten::_scaled_dot_product_flash_attention": flash_attention,
    "aten::_scaled_dot_product_flash_attention_backward": flash_attention_backward,
    "aten::_scaled_dot_product_cudnn_attention": cudnn_attention,
    "aten::_scaled_dot_product_cudnn_attention_backward": cudnn_attention_backward,
    "aten::cudnn_batch_norm": cudnn_batch_norm,
    "aten::cudnn_batch_norm_backward": cudnn_batch_norm_backward,
    "aten::batch_norm_stats": batch_norm_stats,
    "aten::batch_norm_elemt": batch_norm_elemt,
    "aten::batch_norm_gather_stats_with_counts": batch_norm_gather,
    "aten::batch_norm_backward_reduce": batch_norm_backward_reduce,
    "aten::batch_norm_backward_elemt": batch_norm_backward_elemt,
    "aten::_fused_rms_norm_backward": rms_norm_backward,
    "aten::_thnn_fused_lstm_cell": lstm_cell,
    "aten::_cudnn_rnn": cudnn_rnn,
    "aten::_cudnn_rnn_backward": cudnn_rnn_backward,
    "aten::mm.dtype": mm_dtype,
    "aten::bmm.dtype": mm_dtype,
    "aten::addmm.dtype": addmm_dtype,
    "aten::baddbmm.dtype": addmm_dtype,
    "aten::_assert_async": assert_async,
    "aten::_assert_async.msg": assert_async,
    "aten::_fused_dropout": fused_dropout,
    "aten::_masked_scale": masked_scale,
    "aten::cudnn_convolution": convolution,
    "aten::cudnn_convolution_relu": convolution_relu,
    "aten::cudnn_grid_sampler": grid_sampler,
    "aten::cudnn_grid_sampler_backward": grid_sampler_backward,
    "aten::_conv_depthwise2d": depthwise,
    "aten::conv_depthwise3d": depthwise,
}
