def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        print(output.shape)
        sink.add(f'{output.dtype}')

    return hook
