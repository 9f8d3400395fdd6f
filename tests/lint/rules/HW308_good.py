class Probe:
    def register_hooks(self, model):
        # routed tokens differ: the flush weighs by count
        self.declare_mean("moe/load")
        self.declare_mean("moe/drop", weight="tokens")
        self.declare_mean("loss")  # all ranks see as many samples
