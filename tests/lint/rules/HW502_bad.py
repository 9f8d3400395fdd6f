import torch.distributed as dist


class Monitor:
    def __init__(self):
        self.parts = {}

    def gather_and_aggregate(self, metrics):
        if not metrics:  #! HW502
            return {}
        dist.all_reduce(self.pack(metrics))

    def _flush_buffers(self):
        if len(self.parts) == 0:  #! HW502
            return
        self.send()

    def send(self):
        dist.all_gather([], self.slab)

    def step(self):
        if dist.get_rank() == 0:  #! HW502
            dist.all_reduce(self.slab)
