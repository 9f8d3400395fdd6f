def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        try:
            sink.fast(output)
        except RuntimeError:
            raise

    return hook
