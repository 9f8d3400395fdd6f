"""A monitor as it is often written first: it reads its statistics back inside the hooks, and so stalls the device every time."""

import torch
import torch.distributed as dist

from bad_metrics import gradient_summary, saturation


class BadMonitor:
    def __init__(self, spike=0.1):
        self.spike = spike
        self.metrics = {}
        self.log = []

    def register_hooks(self, model):
        for i, layer in enumerate(model.layers):
            layer.register_forward_hook(self._make_forward_hook(i))
            layer.register_full_backward_hook(self._make_backward_hook(i))

    def _make_forward_hook(self, index):
        def hook(module, inputs, output):
            peak = output.detach().abs().max()
            self.metrics[f"layer{index}/peak"] = peak.item()
            if peak > self.spike:
                self.log.append(f"layer {index}: activation peak {peak}")
            self.metrics[f"layer{index}/saturation"] = saturation(output.detach())

        return hook

    def _make_backward_hook(self, index):
        def hook(module, grad_input, grad_output):
            grad = grad_output[0]
            total = torch.tensor(0.0, device=grad.device)
            total += grad.square().sum()
            dist.all_reduce(total)
            self.metrics[f"layer{index}/gradient_norm"] = float(total) ** 0.5
            self.metrics[f"layer{index}/gradient_sample"] = grad.flatten()[:8].cpu()
            self.log.append(gradient_summary(grad))

        return hook

    def step(self):
        """Ends a step. Nothing to copy: the hooks have paid for it already."""
        metrics, self.metrics = self.metrics, {}
        self.log.clear()
        return metrics
