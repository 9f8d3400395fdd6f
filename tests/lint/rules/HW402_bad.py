def setup_x_monitor(models, monitor):
    monitor.register_hooks(models[0])  #! HW402


def setup_y_monitor(model, monitor):
    if isinstance(model, list):
        model_chunk = model[0]  #! HW402
        monitor.register_hooks(model_chunk)
