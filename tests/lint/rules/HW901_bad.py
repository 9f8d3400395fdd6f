def _make_x_hook(sink):
    def hook(module, inputs, output):
        sink.add(output.sum()  #! HW901
        return

    return hook
