"""Switches value mode on in a program that imports torch under the simulated stack: what the finder that the C side puts first
on sys.meta_path answers for torch."""

import _thread
import sys

_asking = set()  # threads inside find_torch: the other finders may lead back here


def find_torch(finder, path, target):
    """What the other finders say of torch, its loader replaced by one that acts when the module has been executed. A look-up
    alone (importlib.util.find_spec) starts nothing, and others may wrap or copy sys.meta_path."""
    thread = _thread.get_ident()
    if thread in _asking:
        return None
    _asking.add(thread)
    try:
        for other in list(sys.meta_path):
            spec = other.find_spec("torch", path, target) if hasattr(other, "find_spec") else None
            if spec is not None:
                break
        else:
            return None
    finally:
        _asking.discard(thread)
    if spec.loader is not None and not isinstance(spec.loader, _Loader):
        spec.loader = _Loader(finder, spec)
    return spec


class _Loader:
    """Stands in for torch's loader until the module is executed; the module keeps the real one."""

    def __init__(self, finder, spec):
        self._finder, self._spec, self._real = finder, spec, spec.loader

    def __getattr__(self, name):
        return getattr(self._real, name)

    def exec_module(self, module):
        self._spec.loader = module.__loader__ = self._real
        self._real.exec_module(module)
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        try:
            from . import activate

            activate()
        except Exception as error:  # the program must run all the same; the report says that values are missing
            print(f"hookwatch: simulate: value mode could not start: {error!r}", file=sys.stderr)
