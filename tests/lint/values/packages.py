"""What findings in published packages taught: each was wrong once, beside what must still be found."""

import numpy as np
import torch


class Monitor:
    def __init__(self, model):
        self.model = model.to("cuda")
        self.names = {m: name for name, m in self.model.named_modules()}
        self.copied = self.model.state_dict()
        self.comm_hooks = [self.register]
        self.table = {}

    def _make_act_hook(self, sink):
        def hook(module, inputs, output):
            name = self.names[module]
            if "attn" in name:
                sink.add(f"{name}")
            if isinstance(sink.value, np.ndarray):
                pass
            value = sink.value()
            if isinstance(value, np.number):
                sink.add(value.item())
            if 0:
                sink.add(output.item())
            if False:
                sink.add(output.item())
            elif True:
                sink.add(output.item())  #! HW101
            sink.add(output.repeat_interleave(4, dim=0))
            module.table[output] = name
            sink.add(sink.numbers[output.argmax()])
            sink.add([1, 2][output.argmax()])  #! HW101
            if not self.comm_hooks:
                torch.distributed.all_reduce(output.amax())  #! HW201

        return hook

    def register(self):
        pass


class _checkpoint_hook(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self):
        def pack(x):
            return x.item()

        super().__init__(pack, lambda x: x)
