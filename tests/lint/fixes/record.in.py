class Probe:
    def __init__(self, layers):
        for index in layers:
            self.declare_layer_metric(index, "act")

    def _make_x_hook(self, index):
        def hook(module, inputs, output):
            y = output.detach()
            self.record_layer_metric(index, "act", y.sum().item())
            self.record_layer_metric(index, "act", val=(y * 2).mean().item())
            self.record_layer_metric(index, "act", y.mean(dim=0).item())
            self.record_layer_metric(index, "act", module.scale.item())
            self.record_layer_metric(index, "act", 0.5)

        return hook
