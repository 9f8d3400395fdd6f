def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        sink.add(output.detach().float())
        sink.add(output.to('cuda'))

    return hook
