"""Memory and events shared between processes."""

from sim_environment import run


def test_tensors_between_processes(build, torch_python, root):
    assert run(build, torch_python, root / "tests/e2e/sim_ipc.py").stdout == "ok\n"


BAD_HANDLES = """
import ctypes, os, subprocess, sys
runtime = ctypes.CDLL("libcudart.so.13")
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]
open_memory = lambda handle: runtime.cudaIpcOpenMemHandle(ctypes.byref(q), handle, 1)
p, q, event = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
handle = Handle()
print(open_memory(handle), runtime.cudaIpcOpenEventHandle(ctypes.byref(event), handle))
assert runtime.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(1 << 20)) == 0
print(runtime.cudaIpcGetMemHandle(ctypes.byref(handle), ctypes.c_void_p(p.value + (1 << 30))))
assert runtime.cudaIpcGetMemHandle(ctypes.byref(handle), p) == 0
assert open_memory(handle) == 0 and q.value != p.value
ctypes.memset(p.value, 65, 4)
print(ctypes.string_at(q.value, 5), runtime.cudaIpcCloseMemHandle(q), runtime.cudaFree(p))
print(open_memory(handle))
"""


def test_handles_that_mean_nothing(build, torch_python):
    """Garbage, memory that is no block, and memory that was freed."""
    done = run(build, torch_python, "-c", BAD_HANDLES)
    assert done.stdout == "1 1\n1\nb'AAAA\\x00' 0 0\n1\n"
