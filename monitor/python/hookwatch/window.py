"""Explicit windows and steps, through the shim that is preloaded into this process, if one is."""

import contextlib
import ctypes


COUNTS = ("waits", "wait_ns", "d2h_copies", "pageable_uploads", "collectives", "allocations", "launches")
_IN_HOOKS = 1  # enum hw_scope
_Totals = ctypes.c_uint64 * 8


def _find():
    """The shim's functions, or None where it is not loaded."""
    shim = ctypes.CDLL(None)
    try:
        shim.hw_window_begin.argtypes, shim.hw_window_begin.restype = [ctypes.c_char_p], None
        shim.hw_window_end.argtypes, shim.hw_window_end.restype = [], None
        shim.hw_step.argtypes, shim.hw_step.restype = [], None
        shim.hw_trace_totals.argtypes, shim.hw_trace_totals.restype = [ctypes.c_uint, ctypes.POINTER(ctypes.c_uint64)], ctypes.c_char_p
    except AttributeError:
        return None
    return shim


_shim = _find()


def loaded():
    """Whether this process runs under the shim."""
    return _shim is not None


def totals():
    """What was counted inside hooks and windows of this process so far: a dict by the names of COUNTS, and the directory of the
    traces. None where the shim is not loaded or records nothing."""
    out = _Totals()
    where = _shim.hw_trace_totals(_IN_HOOKS, out) if _shim is not None else None
    return None if where is None else (dict(zip(COUNTS, out)), where.decode())


@contextlib.contextmanager
def window(name):
    """Calls that this thread makes inside count as made in a hook called `name`."""
    if _shim is None:
        yield
        return
    text = name.encode()  # the shim keeps the pointer while the window is open
    _shim.hw_window_begin(text)
    try:
        yield
    finally:
        _shim.hw_window_end()


def step():
    """A training step has ended. From the first call on, steps are counted by these calls alone."""
    if _shim is not None:
        _shim.hw_step()
