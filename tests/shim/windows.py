"""What Python code gets which rule: a comment at the end of a line names the rule that the line must get, and no other line may
get one. Arguments: the plugin. No framework is installed: framework.py, beside this file, stands in."""

import functools
import logging
import operator
import sys
import threading

import framework
from framework import Tensor

framework.load(sys.argv[1])
t = Tensor()
kept = []
logging.basicConfig(stream=open("/dev/null", "w"), level=logging.INFO)


def _make_scalar_hook():
    def hook():
        kept.append(t.item())  # HW101
        kept.append(float(t))  # HW101
        kept.append([1, 2, 3][t])  # HW101
        kept.append(range(t))  # HW101
        kept.append(t.tolist())  # HW101
        kept.append(t.raw(8))  # HW101
        kept.append(
            t
            .item()  # HW101
        )

    return hook


def _make_bulk_hook():
    def hook():
        kept.append(t.cpu())  # HW102
        kept.append(t.raw(64))  # HW102
        return [t.cpu() for _ in range(2)]  # HW102

    return hook


def _make_branch_hook():
    def hook():
        if t:  # HW103
            pass
        if t > 0:  # HW103
            pass
        kept.append(1 if t else 2)  # HW103
        assert t  # HW103
        kept.append(not t)  # HW103
        kept.append(t and 1)  # HW103
        kept.append(3 in t)  # HW103
        kept.append(max(t, t))  # HW103
        while t:  # HW103
            break

    return hook


def _make_text_hook():
    def hook():
        kept.append(f"{t}")  # HW105
        kept.append(f"{t:.3f} and {t!r}")  # HW105
        kept.append(str(t))  # HW105
        kept.append("%s" % t)  # HW105
        kept.append("{}".format(t))  # HW105
        logging.info("value %s", t)  # HW105

    return hook


def _make_upload_hook():
    def hook():
        framework.upload()  # HW107

    return hook


def _make_wait_hook():
    def hook():
        framework.copy_to_host()  # HW102
        framework.wait()  # HW106
        framework.poll(200)  # HW110
        framework.poll(3)

    return hook


def _make_collective_hook():
    def hook():
        framework.all_reduce()  # HW201
        framework.all_gather_object()  # HW202
        framework.barrier()  # HW203

    return hook


def _make_allocation_hook():
    def hook():
        framework.allocate()  # HW108

    return hook


def _make_first_allocation_hook():
    def hook():
        if not kept:
            framework.allocate()

    return hook


def helper(value):
    return value.item()  # HW101


def _make_helper_hook():
    def hook():
        kept.append(helper(t))

    return hook


def _make_généreux_hook():
    def crochet():
        kept.append(t.item())  # HW101

    return crochet


def _make_lambda_hook():
    return lambda: t.item()  # HW101


def _make_method_hook():
    class Reader:
        def __call__(self):
            return t.item()  # HW101

    return Reader()


def _make_generator_hook():
    def hook():
        def values():
            yield t.item()  # HW101

        kept.extend(values())

    return hook


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def _make_decorated_hook():
    @decorated
    def hook():
        kept.append(t.item())  # HW101

    return hook


class OneCopyMonitor:
    def step(self):
        kept.append(t.cpu())


class LoopMonitor:
    def step(self):
        for _ in range(3):
            kept.append(t.cpu())  # HW501


class TwoCopiesMonitor:
    def step(self):
        kept.append(t.cpu())
        kept.append(t.cpu())  # HW501


class PairMonitor:
    def step(self):
        kept.append(t.cpu())


def flush_pair(pair=(PairMonitor(), PairMonitor())):
    """Two windows, although nothing in the caller tells them apart."""
    list(map(operator.methodcaller("step"), pair))


def _make_flushing_hook(monitor):
    def hook():
        monitor.step()

    return hook


class InnerMonitor:
    def step(self):
        kept.append(t.cpu())  # HW102


def under_frames(depth, function):
    return function() if depth <= 1 else under_frames(depth - 1, function)


_make_first_allocation_hook()()
hooks = [make() for name, make in list(globals().items()) if name.startswith("_make_") and name != "_make_flushing_hook"]
hooks.append(_make_flushing_hook(InnerMonitor()))
monitors = OneCopyMonitor(), LoopMonitor(), TwoCopiesMonitor()
for step in range(3):
    for hook in hooks:
        hook()
    under_frames(150, _make_helper_hook())
    thread = threading.Thread(target=_make_scalar_hook())
    thread.start()
    thread.join()
    t.item(), t.cpu(), float(t)
    for monitor in monitors:
        monitor.step()
    flush_pair()
