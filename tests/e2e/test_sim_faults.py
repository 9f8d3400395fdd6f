"""Injected errors, latencies and device profiles: what is asked for happens, and what cannot be obeyed is refused."""

import subprocess

import pytest

from sim_environment import environment, run


@pytest.mark.parametrize("part, rows", [("one", 46), ("group", 13)])
def test_torch_raises_its_own_error(build, torch_python, root, part, rows):
    env = {"RANK": "0", "TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}
    done = run(build, torch_python, root / "tests/e2e/sim_faults.py", part, env=env)
    assert done.stdout == f"{rows}\n"


def test_a_lost_device_stays_lost(build, torch_python):
    """Both calls that read the last error keep saying it, in every thread; a passing error is forgotten when it is read."""
    code = """
import ctypes, threading
runtime = ctypes.CDLL("libcudart.so.13")
p = ctypes.c_void_p()
malloc = lambda: runtime.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(64))
print(malloc(), malloc(), runtime.cudaPeekAtLastError(), runtime.cudaGetLastError(), runtime.cudaGetLastError(), malloc())
print(malloc(), runtime.cudaDeviceSynchronize(), runtime.cudaGetLastError(), runtime.cudaGetLastError(), malloc())
thread = threading.Thread(target=lambda: print(runtime.cudaPeekAtLastError(), malloc(), runtime.cudaGetDevice(ctypes.byref(p))))
thread.start()
thread.join()
"""
    done = run(build, torch_python, "-c", code, fail="cudaMalloc@2=2,cudaMalloc@4=700:sticky")
    assert done.stdout == "0 2 2 2 0 0\n700 700 700 700 700\n700 700 0\n"


def test_other_ranks_do_not_fail(build, torch_python):
    code = "import torch; torch.ones(3, device='cuda')"
    for rank, status in (("0", 0), ("1", 1)):
        run(build, torch_python, "-c", code, status=status, fail="cudaMalloc=2#1", env={"RANK": rank})


def test_a_missing_driver_entry_point(build, torch_python):
    code = "import torch; torch.ones(3, device='cuda')"
    env = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    assert run(build, torch_python, "-c", code, env=env)
    done = run(build, torch_python, "-c", code, env=env, status=1, fail="cudaGetDriverEntryPointByVersion=500")
    assert "named symbol not found" in done.stderr


LATENCIES = """
import torch
x = torch.ones(3, device="cuda")
torch.cuda.synchronize()
first, last, other = (torch.cuda.Event(enable_timing=True) for _ in range(3))
first.record()
y = x + 1
last.record()
assert not last.query() and not torch.cuda.current_stream().query()
side = torch.cuda.Stream()
assert side.query()
side.wait_event(last)
assert not side.query()
last.synchronize()
assert last.query() and first.elapsed_time(last) >= 300
assert y.tolist() == [2.0] * 3
"""


def test_work_takes_the_time_it_is_given(build, torch_python):
    """Only lower bounds are asked for: the clock of a busy machine says no more."""
    run(build, torch_python, "-c", LATENCIES, latency="kernel=300ms,cudaMemcpyAsync=1ms")
    assert "AssertionError" in run(build, torch_python, "-c", LATENCIES, status=1).stderr


GROUP = """
import torch, torch.distributed as d
d.init_process_group("nccl")
torch.cuda.set_device(d.get_rank())
x = torch.ones(4, device="cuda")
d.all_reduce(x)
torch.cuda.synchronize()
work = d.all_reduce(x, async_op=True)
assert not work.is_completed()
work.wait()
assert x.tolist() == [4.0] * 4
"""


def test_collectives_take_time_too(build, torch_python, tmp_path):
    (tmp_path / "group.py").write_text(GROUP)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", tmp_path / "group.py"]
    run(build, torch_python, *launcher, devices=2, latency="nccl=300ms")


BAD = [
    ("LATENCY", "kernel", "'kernel': want NAME=TIME, such as cudaMemcpyAsync=50us,kernel=10us,nccl=1ms"),
    ("LATENCY", "kernel=10", "'kernel=10': want NAME=TIME, such as cudaMemcpyAsync=50us,kernel=10us,nccl=1ms"),
    ("LATENCY", "copy=1us,,kernel=1us", "'': want NAME=TIME, such as cudaMemcpyAsync=50us,kernel=10us,nccl=1ms"),
    ("LATENCY", "cudaMalloc=1us", "'cudaMalloc': want kernel, copy, nccl, or an entry point that queues work on a stream"),
    ("FAIL", "cudaMalloc", None),
    ("FAIL", "cudaMalloc@0=2", None),
    ("FAIL", "cudaMalloc=0", None),
    ("FAIL", "cudaMalloc=2:stuck", None),
    ("FAIL", "cudaMalloc=2#", None),
    ("FAIL", "a" * 200, None),
    ("DEVICE", "v100", "'v100': want one of h100, a100, b200"),
]


@pytest.mark.parametrize("setting, value, want", BAD)
def test_bad_syntax_is_refused(build, hookwatch, tmp_path, setting, value, want):
    """By the libraries and by hookwatch run, in one line."""
    want = want or f"'{value[:127]}': want CALL[@N[+]]=CODE[:sticky][#RANK], such as cudaMalloc@3=2 or ncclAllReduce=1#0"
    name = f"HOOKWATCH_SIM_{setting}"
    done = subprocess.run(["/bin/true"], env=environment(build, **{setting.lower(): value}), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f"hookwatch: simulate: {name}={value}: {want}\n")
    env = {"PATH": "/usr/bin:/bin", name: value}
    command = [hookwatch, "run", "--simulate", "-o", tmp_path / "out", "--", "/bin/true"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f"hookwatch run: {name}={value}: {want}\n")
    assert not (tmp_path / "out").exists()


def test_an_unknown_call_is_refused(build):
    done = subprocess.run(["/bin/true"], env=environment(build, fail="cudaMallok=2"), capture_output=True, text=True)
    line = "hookwatch: simulate: HOOKWATCH_SIM_FAIL=cudaMallok=2: 'cudaMallok': want an entry point of the simulated libraries\n"
    assert (done.returncode, done.stderr) == (2, line)


PROFILES = {
    "h100": "Simulated H100 9 0 80 132 52428800 233472 232448 1980000",
    "a100": "Simulated A100 8 0 80 108 41943040 167936 166912 1410000",
    "b200": "Simulated B200 10 0 180 148 132120576 233472 232448 1965000",
}


@pytest.mark.parametrize("name", PROFILES)
def test_device_profiles(hookwatch, torch_python, tmp_path, name):
    code = """
import ctypes, torch
p = torch.cuda.get_device_properties(0)
value = ctypes.c_int()
ctypes.CDLL("libcudart.so.13").cudaDeviceGetAttribute(ctypes.byref(value), 13, 0)
print(p.name, p.major, p.minor, p.total_memory >> 30, p.multi_processor_count, p.L2_cache_size,
      p.shared_memory_per_multiprocessor, p.shared_memory_per_block_optin, value.value)
"""
    options = [] if name == "h100" else ["--device-profile", name]
    command = [hookwatch, "run", "--simulate", "-o", tmp_path / "out", *options, "--", torch_python, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == PROFILES[name] + "\n", done.stderr


def test_an_unknown_profile_is_refused(hookwatch):
    done = subprocess.run([hookwatch, "run", "--simulate", "--device-profile", "v100", "true"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "hookwatch run: --device-profile: 'v100': want one of h100, a100, b200\n")
