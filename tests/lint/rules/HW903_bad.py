def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        # hookwatch: allow HW101 -- nothing here #! HW903
        sink.add(output.detach())

    return hook
