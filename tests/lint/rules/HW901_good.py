def _make_x_hook(sink, n):
    def hook(module, inputs, output):
        return output, *(None,) * n

    return hook
