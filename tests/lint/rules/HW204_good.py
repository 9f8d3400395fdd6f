import torch.distributed as dist


class Probe:
    def __init__(self, every):
        self.every, self.calls = every, 0

    def _make_x_hook(self, tp_group):
        def hook(module, inputs, output):
            peak = output.amax()
            self.calls += 1
            if dist.get_rank(tp_group) == 0:
                dist.all_reduce(peak)  #! HW201
            if self.calls % self.every:
                return
            if not dist.is_initialized():
                return
            dist.all_reduce(peak)  #! HW201
            if dist.get_rank() == 0:
                self.calls = 0
            dist.broadcast(peak, 0)  #! HW201

        return hook
