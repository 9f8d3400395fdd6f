"""Ends in the middle of a hook, in the way that the argument names; the hook reads the device before that."""

import os
import signal
import sys

import torch

ENDS = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "abort": os.abort,
    "_exit": lambda: os._exit(0),
}
calls = []


def _make_peak_hook(end):
    def hook(module, inputs, output):
        calls.append(output.abs().max().item())
        if len(calls) == 3:
            end()

    return hook


layer = torch.nn.Linear(4, 4).cuda()
layer.register_forward_hook(_make_peak_hook(ENDS[sys.argv[1]]))
while True:
    layer(torch.ones(2, 4, device="cuda"))
