"""What lists, sets, tuples and dicts hold, and how it comes out again."""
import torch


class Monitor:
    def __init__(self):
        self.state = {"step": 0}
        self.seen = set()
        self.rows = []
        self.pairs = []

    def _make_box_hook(self, sink):
        def hook(module, inputs, output):
            y = output.detach()
            stats = {"mean": y.mean(), "n": y.numel()}
            if stats["n"] > 3:
                stats["rows"] = y.shape[0]
            if stats["mean"] > 3:  #! HW103
                stats["max"] = y.amax()
            if stats["rows"] > 3 or "mean" in stats or stats.get("n", 0) > 1:
                float(stats["max"])  #! HW101
            self.state["step"] = self.state["step"] + 1
            self.state["last"] = y.norm()
            if self.state["step"] % 10 == 0:
                sink.append(1)
            if self.state["last"] > 0:  #! HW103
                sink.append(2)
            made = dict(a=1, b=y)
            if made["a"] > 1:
                bool(made["b"])  #! HW101
            name, value = ("mean", y.mean())
            if name == "mean" and len(name) > 1:
                float(value)  #! HW101
            for name, value in stats.items():
                sink.append(name)
            self.pairs.append((name, y.numel(), y.sum()))
            for name, count, total in self.pairs:
                if count > 3 and name in sink:
                    float(total)  #! HW101
            for i, t in enumerate(inputs):
                if i > 0 and t is not None:
                    sink.append(float(t))  #! HW101
            for a, b in zip(inputs, (1, 2)):
                if b > 1:
                    int(a.sum())  #! HW101
            if y in self.seen:  # a set compares hashes and identities first
                return
            self.seen.add(y)
            if y in [1, 2]:  #! HW103
                return
            if 3 in y:  #! HW103
                return
            self.rows.append(y.amax())
            max(self.rows)  #! HW103
            first, *rest = inputs
            rest[0].item()  #! HW101
            nested = [[y.sum()], [y.mean()]]
            float(nested[0][0])  #! HW101
            mixed = (1, y)
            if mixed[0] > 0:
                float(mixed[1])  #! HW101

        return hook
