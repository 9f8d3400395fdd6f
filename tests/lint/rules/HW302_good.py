class Probe:
    MAX_AGGREGATED = {"act/max"}
    MIN_AGGREGATED = {"act/min"}

    def __init__(self, layers):
        for index in layers:
            for name in ("act/max", "act/min", "act/mean", "act/top"):
                self.declare_layer_metric(index, name)
        # every rank sees as many samples
        self.declare_mean("loss")
        self.declare_max("peak")
        self.allocate_buffers("cuda")

    def _make_x_hook(self, index):
        def hook(module, inputs, output):
            out = output.detach()
            self.record_layer_metric(index, "act/max", out.amax())
            self.record_layer_metric(index, "act/min", out.amin())
            self.record_layer_metric(index, "act/mean", out.mean())
            self.record_mean("loss", out.mean())
            self.record_max("peak", out.amax())

        return hook
