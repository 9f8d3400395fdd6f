import torch.distributed as dist


class Monitor:
    def gather_and_aggregate(self, metrics):
        if not dist.is_initialized() or dist.get_world_size() == 1:
            return metrics
        packed = self.pack(metrics)
        dist.all_reduce(packed)
        if not metrics:
            return {}
        return self.unpack(packed)

    def step(self):
        self.calls += 1
        if self.calls % self.every:
            return
        if not self.enabled:
            return
        dist.all_reduce(self.slab)
        if dist.get_rank() == 0:
            self.log()
