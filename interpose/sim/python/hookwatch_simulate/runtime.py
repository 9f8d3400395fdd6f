"""The C side of the simulated stack, as value mode uses it."""

import ctypes

try:
    library = ctypes.CDLL(None)
    library.hw_sim_value_begin.argtypes = [ctypes.c_void_p]
    library.hw_sim_script_d2h.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_int64)]
    library.hw_sim_unvalued.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
except AttributeError:  # a real CUDA runtime, or none
    library = None


def script(values):
    """What the next small device-to-host copies of this thread deliver. The returned array must live until they happened."""
    array = (ctypes.c_int64 * len(values))(*values)
    library.hw_sim_script_d2h(len(values), array)
    return array


def unvalued(operation, why):
    """Counts an operation whose result could not be computed; the first time each is named on stderr by the C side."""
    library.hw_sim_unvalued(str(operation).encode(), " ".join(str(why).split())[:200].encode())
