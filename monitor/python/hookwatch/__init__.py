"""hookwatch from Python: explicit windows and steps. They do nothing where the shim is not loaded."""

from hookwatch.window import loaded, step, window

__all__ = ["loaded", "step", "window"]
