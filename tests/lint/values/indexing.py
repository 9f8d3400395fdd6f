"""Subscripts: what reads an index back, and what a kernel does alone."""
import torch

TABLE = [0.1, 0.2]


def _make_index_hook(sink):
    def hook(module, inputs, output):
        y = output.float()
        mask = y > 0
        k = y.argmax()
        rows = y.argmax(-1)
        sink.append(y[0, 1:3, ..., None])
        sink.append(y[rows])
        sink.append(y[mask])  #! HW104
        sink.append(y[mask & (y < 3)])  #! HW104
        sink.append(y[k])  #! HW101
        sink.append(y[:k])  #! HW101
        sink.append(y[: y.shape[0] // 2])
        sink.append(TABLE[k])  #! HW101
        sink.append(TABLE[y.dim()])
        y[mask] = 0.0
        y[mask] = y.mean()  #! HW104
        y[k] = 1.0
        y[rows] = 1.0
        "ab" * k  #! HW101
        range(k)  #! HW101
        range(y.size(0))

    return hook
