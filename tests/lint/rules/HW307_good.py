import torch


class Probe:
    def _make_x_hook(self, kept):
        def hook(module, inputs, output):
            self.last = output.detach()
            with torch.no_grad():
                self.total += output.sum()
            self.best = output.argmax()
            local = [output.mean()]
            local.append(output.sum())
            self.shape = output.shape

        return hook

    def _make_back_hook(self):
        def hook(grad):
            self.grad = grad.norm()

        return hook
