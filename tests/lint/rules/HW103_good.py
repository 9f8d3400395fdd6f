def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        if output.dim() > 2:
            sink.add(output.detach().isnan().any())

    return hook
