def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        if not sink.event.query():
            sink.skip()

    return hook
