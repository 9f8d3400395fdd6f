"""Metadata, configuration and Python numbers are host data: nothing here waits but what is marked."""
import math

import torch


class Monitor:
    def _make_meta_hook(self, cfg, sink):
        @torch.no_grad()
        def hook(module, inputs, output):
            (x,) = inputs
            y = output[0] if isinstance(output, (tuple, list)) else output
            n = y.numel() / y.shape[0]
            name = f"{module.__class__.__name__}.{y.shape[-1]} {n}"
            k = max(1, int(0.1 * y.numel()))
            sink.append((name, y.flatten().abs().topk(k).values[-1]))
            entropy = -(y * y.log()).sum() / math.log(y.size(-1))
            if y.dtype in (torch.float16, torch.bfloat16):
                y = y.float()
            if y.ndim == 3 and y.is_cuda and not y.is_sparse and y.grad_fn is None:
                y = y.reshape(-1, y.shape[-1])
            rows, cols = y.shape[-2:]
            if rows > cols or x.device.type == "cuda" or x.element_size() > 2:
                sink.append(entropy)
            ratio = float(cfg.alpha) * math.sqrt(cols)
            if ratio > 1:
                sink.append(torch.finfo(y.dtype).max)
            lengths = [t.shape[0] for t in inputs]
            if max(lengths) > 3 and any(t.requires_grad for t in inputs):
                sink.append(sorted(cfg.names))
            if all(isinstance(t, torch.Tensor) for t in inputs) and len(inputs) and inputs[0] is not None:
                sink.append(sum(t.mean() for t in inputs) / len(inputs))
            if not inputs:
                return None
            if module.bias is not None and module.training:
                sink.append(module.bias.norm())
            if module.bias:  # of an nn.LSTM it is a flag
                sink.append(1)
            assert y.shape == x.shape, f"{y.shape} of {y}"
            if y.shape != x.shape:
                raise ValueError(f"{y} where {x} was")
            if output is None or isinstance(output, tuple) and len(output) > 2:
                return None
            if output:  # may be a tuple: no claim
                return None
            if isinstance(output, torch.Tensor) and output:  #! HW103
                return None
            if not isinstance(output, tuple) and output > 0:  #! HW103
                return None
            if x is None:
                sink.append(x.item())  # x is None here
            return None

        return hook
