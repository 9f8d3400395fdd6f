import torch


class Probe:
    def _make_x_hook(self, kept):
        def hook(module, inputs, output):
            self.last = output  #! HW307
            self.total += output.sum()  #! HW307
            self.history.append(output.mean())  #! HW307
            kept["x"] = output.float()  #! HW307

        return hook
