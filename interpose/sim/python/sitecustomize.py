"""Switches value mode on in a program that imports torch under the simulated stack, then makes way for the user's own
sitecustomize. A program that never imports torch pays for one finder on sys.meta_path."""

import os
import sys


class _TorchFinder:
    """Sees the import of torch, lets the other finders answer it, and acts when the module has been executed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "torch":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(_TorchFinder)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec)
        return spec


class _Loader:
    """Stands in for torch's loader until the module is executed; the module keeps the real one."""

    def __init__(self, spec):
        self._spec, self._real = spec, spec.loader

    def __getattr__(self, name):
        return getattr(self._real, name)

    def exec_module(self, module):
        self._spec.loader = module.__loader__ = self._real
        self._real.exec_module(module)
        try:
            import hookwatch_simulate

            hookwatch_simulate.activate()
        except Exception as error:  # the program must run all the same; the report says that values are missing
            print(f"hookwatch: simulate: value mode could not start: {error!r}", file=sys.stderr)


def _run_next_sitecustomize():
    """Executes the sitecustomize that would have been found without ours."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    rest = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if os.environ.get("HOOKWATCH_SIM_VALUES", "1") != "0":
    sys.meta_path.insert(0, _TorchFinder)
_run_next_sitecustomize()
