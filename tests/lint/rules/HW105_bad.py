def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        print(output)  #! HW105
        sink.add(f'{output.sum()}')  #! HW105

    return hook
