"""What operations call: for each row of a table (setup, expression) prints the copies, waits and launches the simulated stack
received for the second evaluation, as JSON. Argument: the table. Run under `hookwatch run --simulate` with
HOOKWATCH_SIM_TRACE naming a file."""

import collections
import json
import os
import signal
import sys
import warnings

import torch

NAMES = """
import copy, io, pickle
import numpy as np
import torch.nn.functional as F
D = "cuda"
x = torch.zeros(8, 8, device=D); v = torch.zeros(8, device=D); s = torch.zeros((), device=D)
i = torch.zeros(8, dtype=torch.int64, device=D); n0 = torch.zeros((), dtype=torch.int64, device=D)
b = torch.zeros(8, dtype=torch.bool, device=D); B = torch.zeros(8, 8, dtype=torch.bool, device=D)
sb = torch.zeros((), dtype=torch.bool, device=D); w = torch.zeros(8, 8, device=D)
one = torch.ones((), device=D, dtype=torch.int64)
h = torch.zeros(8, 8); hp = torch.zeros(8, 8).pin_memory(); hi = torch.zeros(8, dtype=torch.int64)
hb = torch.zeros(8, dtype=torch.bool); big = torch.zeros(1 << 20); L = [1.0, 2.0, 3.0]
e1 = torch.cuda.Event(enable_timing=True); e2 = torch.cuda.Event(enable_timing=True); st = torch.cuda.Stream()
e1.record(); e2.record()
sp = torch.zeros(64, 64, device=D); img = torch.zeros(2, 3, 8, 8, device=D); cw = torch.zeros(4, 3, 3, 3, device=D)
q = torch.zeros(1, 2, 16, 64, device=D, dtype=torch.float16)
lin = torch.nn.Linear(8, 8).cuda(); emb = torch.nn.Embedding(16, 8).cuda(); ln = torch.nn.LayerNorm(8).cuda()
bn = torch.nn.BatchNorm1d(8).cuda(); outh = torch.zeros(8, 8); outp = torch.zeros(8, 8).pin_memory()
def prep_opt(cls, **options):
    p = [torch.nn.Parameter(torch.zeros(8, 8, device=D)) for _ in range(3)]
    for each in p:
        each.grad = torch.zeros_like(each)
    return cls(p, lr=1e-3, **options)
"""
WAITS = {"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize"}
LAUNCHES = {
    "launch",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
}


class Trace:
    """The calls received since the last take()."""

    def __init__(self):
        torch.cuda.synchronize()  # the file is made by the first call
        self.file = open(os.environ["HOOKWATCH_SIM_TRACE"])

    def take(self):
        return self.file.read().splitlines()


def counted(counter):
    return ", ".join(f"{n}x {what}" if n > 1 else what for what, n in counter.items()) or "-"


def summary(lines):
    h2d, d2h, waits, launches = (collections.Counter() for _ in range(4))
    for line in lines:
        call, *rest = line.split(" ")
        if call.startswith("cudaMemcpy") and rest[0] in ("H2D", "D2H"):
            what = f"{rest[1]}B {rest[2]}" + ("" if call == "cudaMemcpyAsync" else " " + call)
            (h2d if rest[0] == "H2D" else d2h)[what] += 1
        elif call in WAITS:
            waits[call.removeprefix("cuda")] += 1
        elif call in LAUNCHES:
            launches["all"] += 1
    return {"h2d": counted(h2d), "d2h": counted(d2h), "waits": counted(waits), "launches": str(launches["all"])}


def main(table):
    warnings.simplefilter("ignore")
    torch.backends.cudnn.enabled = False
    trace, results = Trace(), {}
    sys.stdout = open(os.devnull, "w")
    for line in open(table):
        if line.startswith("#"):
            continue
        name, setup, code = line.rstrip("\n").split("\t")[:3]
        names = {"torch": torch}
        signal.alarm(60)
        try:
            exec(NAMES, names)
            exec(setup.replace("\\n", "\n"), names)
            expression = compile(code, name, "eval")
            eval(expression, names)
            torch.cuda.synchronize()
            trace.take()
            eval(expression, names)
            results[name] = summary(trace.take())
        except Exception as error:
            results[name] = {"error": f"{type(error).__name__}: {error}"[:200]}
    signal.alarm(0)
    json.dump(results, sys.__stdout__)


main(sys.argv[1])
