"""Value mode of the simulated stack: right numbers for every PyTorch operation, with the CUDA call sequence untouched."""

import atexit
import os

__all__ = ["activate"]


def activate():
    """Makes every thread of this process compute values, unless zeros were asked for; does nothing where the simulated stack is
    not loaded."""
    from . import runtime

    if runtime.library is None:
        return
    atexit.register(_drain_autograd)
    if os.environ.get("HOOKWATCH_SIM_VALUES", "1") == "0":
        return
    from . import install

    install.everywhere()
    runtime.library.hw_sim_set_values(1)


def _drain_autograd():
    """An autograd thread drops what the last backward held after backward has returned, and asks for the interpreter to do so.
    Here, where a backward takes no time, a script may end before that; a thread that asks an ending interpreter ends the process.
    Each device's thread works off its queue in order, so when an empty backward has come back from it, what was before is gone.
    The empty one leaves nothing to ask for: it runs without modes, its tensors live for ever, and no CUDA call is made."""
    import ctypes

    import torch

    if not torch.cuda.is_initialized():
        return
    kept, run = [], torch.autograd.Variable._execution_engine.run_backward
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    with torch.utils._python_dispatch._disable_current_modes():
        for index in range(torch.cuda.device_count()):
            try:
                leaf = torch.empty(0, device=f"cuda:{index}", requires_grad=True)
                kept += [leaf, leaf.view(0), torch.empty(0, device=leaf.device)]
                # not torch.autograd.backward: it gives the thread a Python context to drop
                run(tuple(kept[-2:-1]), tuple(kept[-1:]), False, False, (), allow_unreachable=True, accumulate_grad=True)
            except RuntimeError:  # after a fork there are no such threads; after a device error none can be asked
                return
