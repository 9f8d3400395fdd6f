"""Value mode of the simulated stack: right numbers for every PyTorch operation, with the CUDA call sequence untouched."""

import atexit
import os
import time

__all__ = ["activate"]


def activate():
    """Makes every thread of this process compute values, unless zeros were asked for; does nothing where the simulated stack is
    not loaded."""
    from . import runtime

    if runtime.library is None:
        return
    atexit.register(_let_autograd_finish)
    if os.environ.get("HOOKWATCH_SIM_VALUES", "1") == "0":
        return
    from . import install

    install.everywhere()
    runtime.library.hw_sim_set_values(1)


def _let_autograd_finish():
    """An autograd thread drops what the last backward held after backward has returned, and needs the interpreter for it. Here,
    where a backward takes no time, a script may end before that, and a thread that asks an ending interpreter ends the process."""
    for _ in range(5):
        time.sleep(0.005)
