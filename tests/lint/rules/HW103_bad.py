def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        if output.isnan().any():  #! HW103
            sink.add(1)

    return hook
