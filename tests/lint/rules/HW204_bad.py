import torch.distributed as dist


class Probe:
    def __init__(self):
        self.parts = {}

    def _make_x_hook(self):
        def hook(module, inputs, output):
            peak = output.amax()
            self.parts["peak"] = peak.detach()
            if dist.get_rank() == 0:
                dist.all_reduce(peak)  #! HW201 HW204
            if peak > 3:  #! HW103
                dist.all_reduce(peak)  #! HW201 HW204
            for part in self.parts.values():
                dist.all_reduce(part)  #! HW201 HW204
            if not self.parts:
                return
            dist.all_reduce(peak)  #! HW201 HW204

        return hook
