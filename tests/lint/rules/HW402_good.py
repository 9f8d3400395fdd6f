def setup_x_monitor(models, monitor):
    first = models[0]
    found = [monitor._prepare_layers(model) for model in models]
    monitor.allocate_buffers(next(first.parameters()).device)
    for targets in found:
        monitor._attach_hooks(targets)


def pick(models, monitor):
    monitor.register_hooks(models[0])
