def _make_x_hook(sink, module_counts, group):
    def hook(module, inputs, output):
        open('trace.txt', 'a')  #! HW111

    return hook
