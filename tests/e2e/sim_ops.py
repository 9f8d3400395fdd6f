"""What operations call: for each row of a table (name, where, setup, expression) prints the row again with what the second
evaluation of the expression called. Arguments: the table, and `device`, or `ranks` for the rows that two ranks make together
(rank 0 prints). The calls are those of the simulated stack's own trace (HOOKWATCH_SIM_TRACE, with %p for the process) or of
recorder.c (HOOKWATCH_RECORD)."""

import collections
import os
import signal
import sys
import time
import warnings

import torch

COLUMNS = "name where setup expression h2d d2h waits launches library calls raises source note".split()
NAMES = """
import copy, io, pickle
import numpy as np
import torch.nn.functional as F
torch.manual_seed(0)
D = "cuda"
x = torch.randn(8, 8).cuda(); w = torch.randn(8, 8).cuda(); v = torch.tensor([3., 0, 1, 2, 0, 5, 4, 1]).cuda()
s = torch.tensor(0.5).cuda(); i = torch.tensor([1, 0, 2, 3, 0, 5, 7, 2]).cuda(); n0 = torch.tensor(1).cuda()
b = torch.tensor([1, 0, 1, 1, 0, 0, 1, 0]).bool().cuda(); B = torch.randn(8, 8).cuda() > 0; sb = torch.tensor(True).cuda()
one = torch.ones((), device=D, dtype=torch.int64); spd = torch.diag(torch.arange(1., 9)).cuda()
h = torch.randn(8, 8); hp = torch.randn(8, 8).pin_memory(); hi = torch.arange(8); hb = b.cpu()
big = torch.randn(1 << 20); L = [1.0, 2.0, 3.0]
e1 = torch.cuda.Event(enable_timing=True); e2 = torch.cuda.Event(enable_timing=True); st = torch.cuda.Stream()
e1.record(); e2.record()
sp = torch.randn(64, 64).cuda(); img = torch.randn(2, 3, 8, 8).cuda(); cw = torch.randn(4, 3, 3, 3).cuda()
q = torch.randn(1, 2, 16, 64).half().cuda()
lin = torch.nn.Linear(8, 8).cuda(); emb = torch.nn.Embedding(16, 8).cuda(); ln = torch.nn.LayerNorm(8).cuda()
bn = torch.nn.BatchNorm1d(8).cuda(); outh = torch.zeros(8, 8); outp = torch.zeros(8, 8).pin_memory()
def prep_opt(cls, **options):
    p = [torch.nn.Parameter(torch.randn(8, 8).cuda()) for _ in range(3)]
    for each in p:
        each.grad = torch.ones_like(each)
    return cls(p, lr=1e-3, **options)
"""
RANK_NAMES = """
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
t = torch.ones(4, device="cuda"); big = torch.zeros(8, device="cuda"); L = [torch.zeros(4, device="cuda") for _ in range(2)]
"""
WAITS = {"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize"}
LAUNCHES = {"cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel"}
# Part of the sequence by their bare name: order between streams, allocation, graphs. Queries depend on time.
NAMED = {
    "cudaEventRecord": "EventRecord",
    "cudaEventRecordWithFlags": "EventRecord",
    "cudaStreamWaitEvent": "StreamWaitEvent",
    "cudaMemsetAsync": "memset",
    "cudaMemset": "memset",
    "cudaMalloc": "Malloc",
    "cudaFree": "Free",
    "cudaHostAlloc": "HostAlloc",
    "cudaGraphLaunch": "GraphLaunch",
}
COLLECTIVES = {"nccl" + name for name in "AllReduce Reduce Broadcast Bcast AllGather ReduceScatter AlltoAll Send Recv CommSplit".split()}


class Trace:
    """The calls received since the last take()."""

    def __init__(self):
        torch.cuda.synchronize()  # the file is made by the first call
        recorded = os.environ.get("HOOKWATCH_RECORD")
        pid = str(os.getpid())
        self.file = open(f"{recorded}.{pid}" if recorded else os.environ["HOOKWATCH_SIM_TRACE"].replace("%p", pid))

    def take(self):
        return self.file.read().splitlines()


def events(lines):
    """The calls that the table speaks of, in its words."""
    for line in lines:
        call, *rest = line.split(" ")
        if call.startswith("cudaMemcpy"):
            yield f"{rest[0]} {rest[1]}B {rest[2]}".rstrip() + ("" if call == "cudaMemcpyAsync" else " " + call)
        elif call in WAITS:
            yield call.removeprefix("cuda")
        elif call in LAUNCHES:
            yield "launch"
        elif call == "launch":
            yield "library " + rest[0]
        elif call in COLLECTIVES:
            yield call
        elif call in NAMED:
            yield NAMED[call]


def counted(items):
    return ", ".join(f"{n}x {what}" if n > 1 else what for what, n in collections.Counter(items).items()) or "-"


def sequence(items):
    """The items in order, runs and repeated groups of up to six written once."""
    out, at = [], 0
    while at < len(items):
        best = (1, 1)
        for width in range(1, 7):
            group, times = items[at : at + width], 1
            while items[at + width * times : at + width * (times + 1)] == group:
                times += 1
            if times > 1 and width * times > best[0] * best[1]:
                best = (width, times)
        width, times = best
        text = " > ".join(items[at : at + width])
        out.append(text if times == 1 else f"{times}x ({text})" if width > 1 else f"{times}x {text}")
        at += width * times
    return " > ".join(out) or "-"


def measured(lines, error):
    calls = list(events(lines))
    return {
        "h2d": counted(c.removeprefix("H2D ") for c in calls if c.startswith("H2D ")),
        "d2h": counted(c.removeprefix("D2H ") for c in calls if c.startswith("D2H ")),
        "waits": counted(c for c in calls if "cuda" + c in WAITS),
        "launches": str(calls.count("launch")),
        "library": counted(c.removeprefix("library ") for c in calls if c.startswith("library ")),
        "calls": sequence([c.removeprefix("library ") for c in calls]),
        "raises": error,
    }


def attempt(expression, names):
    """Evaluates; the name of what it raised, or "-"."""
    try:
        eval(expression, names)
    except (Exception, AssertionError) as error:
        return type(error).__name__
    return "-"


def evaluate(row, trace, names):
    names = {"torch": torch, **names}
    torch.backends.cudnn.enabled = False
    signal.alarm(60)
    exec(NAMES if row["where"] == "device" else RANK_NAMES, names)
    exec(row["setup"].replace("\\n", "\n"), names)
    expression = compile(row["expression"], row["name"], "eval")
    attempt(expression, names)
    torch.cuda.synchronize()
    trace.take()
    if names.get("r"):
        time.sleep(0.02)  # rank 0's collectives are still under way when it asks, as on a device
    error = attempt(expression, names)
    lines = trace.take()
    signal.alarm(0)
    if row["where"] == "ranks":  # PyTorch does not wait for a collective it finds complete: that is a matter of time
        lines = [line for line in lines if not line.startswith("cudaStreamWaitEvent")]
    return measured(lines, error)


def main(table, where):
    warnings.simplefilter("ignore")
    names = {}
    if where == "ranks":
        import torch.distributed as dist

        names = {"r": int(os.environ["RANK"])}
        torch.cuda.set_device(names["r"])
        dist.init_process_group("nccl", device_id=torch.device("cuda", names["r"]))
    trace = Trace()
    out, sys.stdout = sys.stdout, open(os.devnull, "w")
    sys.stderr = open(os.devnull, "w") if where == "ranks" else sys.stderr
    for line in open(table):
        row = dict(zip(COLUMNS, line.rstrip("\n").split("\t")))
        if line.startswith("#") or row["where"] != where:
            continue
        try:
            row.update(evaluate(row, trace, names))
        except Exception as error:
            row.update(raises=f"set-up: {type(error).__name__}: {' '.join(str(error).split())}")
        if not names.get("r"):
            print("\t".join(row.get(c, "-") for c in COLUMNS), file=out, flush=True)
    if where == "ranks":
        dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
