"""Value mode of the simulated stack: right numbers for every PyTorch operation, with the CUDA call sequence untouched."""

__all__ = ["activate"]


def activate():
    """Makes every thread of this process compute values; does nothing where the simulated stack is not loaded."""
    from . import runtime

    if runtime.library is None:
        return
    from . import install

    install.everywhere()
    runtime.library.hw_sim_set_values(1)
