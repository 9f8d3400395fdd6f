"""Switches value mode on in a program that imports torch under the simulated stack, then makes way for the user's own
sitecustomize. A program that never imports torch pays for one finder on sys.meta_path."""

import _thread
import os
import sys


class _TorchFinder:
    """Answers a look-up of torch with what the other finders say, its loader replaced by one that acts when the module has been
    executed. A look-up alone (importlib.util.find_spec) starts nothing, and others may wrap or copy sys.meta_path."""

    _asking = set()  # threads inside find_spec: the other finders may lead back here

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        thread = _thread.get_ident()
        if name != "torch" or thread in cls._asking:
            return None
        cls._asking.add(thread)
        try:
            for finder in list(sys.meta_path):
                spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
                if spec is not None:
                    break
            else:
                return None
        finally:
            cls._asking.discard(thread)
        if spec.loader is not None and not isinstance(spec.loader, _Loader):
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
        if _TorchFinder in sys.meta_path:
            sys.meta_path.remove(_TorchFinder)
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


sys.meta_path.insert(0, _TorchFinder)
_run_next_sitecustomize()
