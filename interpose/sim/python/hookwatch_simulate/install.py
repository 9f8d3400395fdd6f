"""Puts the dispatch mode where every operation of the program passes: it is thread-local, so each thread gets its own."""

import _thread
import functools
import threading

import torch

from .mode import ValueMode


def _enter():
    """For the calling thread, until it ends. Autograd's threads inherit the mode with the rest of the caller's state."""
    if not any(isinstance(m, ValueMode) for m in torch.utils._python_dispatch._get_current_dispatch_mode_stack()):
        torch._C._push_on_torch_dispatch_stack(ValueMode())


def _threads():
    bootstrap = threading.Thread._bootstrap_inner

    @functools.wraps(bootstrap)
    def bootstrap_with_values(self):
        _enter()
        bootstrap(self)

    threading.Thread._bootstrap_inner = bootstrap_with_values
    start = _thread.start_new_thread

    @functools.wraps(start)
    def start_with_values(function, args, kwargs={}):
        def run(*args, **kwargs):
            _enter()
            return function(*args, **kwargs)

        return start(run, args, kwargs)

    _thread.start_new_thread = _thread.start_new = start_with_values


def _printing():
    """torch switches all modes off while it formats a tensor, so that the numbers it branches on would be garbage."""
    module = torch._tensor_str
    original = module._str

    @functools.wraps(original)
    def _str(self, *, tensor_contents=None):
        if type(self) not in (torch.Tensor, torch.nn.Parameter):
            return original(self, tensor_contents=tensor_contents)
        with torch.no_grad():
            guard = torch._C._DisableFuncTorch()  # noqa: F841
            return module._str_intern(self, tensor_contents=tensor_contents)

    module._str = _str


def _ctc_loss():
    """PyTorch reads the lengths into numbers, but where a mode is active it hands the tensors on, which is another kernel."""
    original = torch.ctc_loss

    @functools.wraps(original)
    def ctc_loss(log_probs, targets, input_lengths, target_lengths, *rest, **options):
        lengths = [input_lengths, target_lengths]
        if type(log_probs) in (torch.Tensor, torch.nn.Parameter) and all(type(t) is torch.Tensor for t in lengths):
            targets.cpu()  # PyTorch looks at the targets in both forms, so twice
            lengths = [t.cpu().tolist() for t in lengths]
        return original(log_probs, targets, *lengths, *rest, **options)

    torch.ctc_loss = ctc_loss


def everywhere():
    ValueMode().__enter__()
    _threads()
    _printing()
    _ctc_loss()
