def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        sink.add(output.sum().item())  #! HW101
        sink.add(float(output.mean()))  #! HW101

    return hook
