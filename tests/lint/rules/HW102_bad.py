def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        sink.add(output.cpu())  #! HW102
        sink.add(output.to('cpu'))  #! HW102

    return hook
