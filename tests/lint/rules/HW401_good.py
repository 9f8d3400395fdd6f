def setup_x_monitor(models, monitor):
    found = [(model, monitor._prepare_layers(model)) for model in models]
    monitor.allocate_buffers("cuda")
    for _, targets in found:
        monitor._attach_hooks(targets)  # register_hooks would allocate once a chunk
