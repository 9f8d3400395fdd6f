def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        # hookwatch: allow HW101 -- once, at the first step
        sink.add(output.item())

    return hook
