"""The metric schema: what is declared at registration, what hooks record."""


class Monitor:
    LATE = ["act/late"]

    def __init__(self, thresholds):
        self.thresholds = thresholds

    def _metric_names(self):
        return ["act/max", "act/mean"] + [f"act/gt_{t}" for t in self.thresholds]

    def register_hooks(self, layers):
        for idx, layer in layers:
            for name in self._metric_names():
                self.declare_layer_metric(idx, name)
        self.declare_max("act/extra")
        self.declare_layer_metric(0, "act/both")
        self.declare_max("act/both")
        self.allocate_buffers("cuda")
        for idx, layer in layers:
            layer.register_forward_hook(self._make_act_hook(idx))

    def _make_act_hook(self, idx):
        def hook(module, inputs, output):
            y = output.detach()
            self.record_layer_metric(idx, "act/max", y.amax())
            self.record_layer_metric(idx, "act/maximum", y.amax())  #! HW302
            self.record_layer_metric(idx, f"act/{module.name}", y.amax())
            self.record_layer_metric(idx, f"grad/{module.name}", y.amax())  #! HW302
            self.record_layer_metric(idx, name="act/mean", val=y.mean())
            self.record_layer_metric(idx, "act/mean", y.shape[0])  #! HW303
            self.record_layer_metric(idx, "act/mean", y.mean().cpu())  #! HW102 HW303
            for t in self.thresholds:
                self.record_layer_metric(idx, f"act/gt_{t}", (y > t).sum())
            self.record_max("act/extra", y.amax())
            self.record_layer_metric(idx, "act/both", y.amax())
            self.record_max("act/both", y.amax())  # declared as a global of its own
            self.record_max("act/max", y.amax())  #! HW306
            self.record_mean("act/mean", module.unknown)  #! HW306
            if idx == 0:
                self.declare_mean("act/late")  #! HW301
                self.allocate_buffers("cuda")  #! HW301

        return hook


class Base:
    """The methods of the schema may use each other."""

    def record_layer_metric(self, idx, name, val):
        self.record_mean(name, val)
        self.counts[name] = 1.0

    def record_mean(self, key, val):
        self.buffers[key].add_(val)

    def _make_base_hook(self, idx):
        def hook(module, inputs, output):
            self.record_layer_metric(idx, "base/mean", output.mean())

        return hook


class Unknown:
    """Declares what cannot be told: no claim about its keys."""

    def register_hooks(self, layers, names):
        for name in names:
            self.declare_layer_metric(0, name)

    def _make_any_hook(self, idx):
        def hook(module, inputs, output):
            self.record_layer_metric(idx, "any/key", output.sum())

        return hook


def setup_each(monitor, models):
    for model in models:
        monitor.register_hooks(model)  #! HW401


def setup_one(monitor, models):
    for layer in monitor.layers:
        monitor.register_hooks(layer)
