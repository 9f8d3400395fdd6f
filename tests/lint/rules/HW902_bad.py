def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        # hookwatch: allow HW101 #! HW902
        sink.add(output.item())  #! HW101

    return hook
