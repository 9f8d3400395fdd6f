def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        sink.add(output.detach().sum())
        sink.add(float(output.shape[0]))

    return hook
