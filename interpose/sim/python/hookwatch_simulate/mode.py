"""The dispatch mode: computes each operation on the CPU over the same bytes, then runs the real CUDA operation for its calls,
then puts the computed result where the operation wrote nothing."""

import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import runtime
from .knowledge import COMPUTED_NAMESPACES, DECIDES, PASS, TAKEN_APART, host_reads
from .layouts import rebuilt, storages
from .substitutes import TABLE as SUBSTITUTES

_TRACING = tuple(getattr(torch._C._TorchDispatchModeKey, name) for name in ("FAKE", "PROXY", "FUNCTIONAL"))
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_CPU = torch.device("cpu")
_ON_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_ON_CUDA = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
_construct_storage = torch._C._construct_storage_from_data_pointer
_get_mode = torch._C._get_dispatch_mode


def alias(tensor):
    """A CPU tensor over the bytes of a CUDA tensor."""
    if tensor.layout != torch.strided or tensor.is_nested:
        return rebuilt(tensor, alias)
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    empty = torch.empty(0, dtype=tensor.dtype, device=_CPU)
    if not size:
        return empty.as_strided(tensor.shape, tensor.stride()) if tensor.numel() else empty.reshape(tensor.shape)
    host = empty.set_(
        _construct_storage(storage.data_ptr(), _CPU, size), tensor.storage_offset(), tensor.shape, tensor.stride()
    )
    if tensor.is_conj():  # lazy bits: copies look at them
        host = host.conj()
    return torch._neg_view(host) if tensor.is_neg() else host


def _on_device(computed, device):
    """A new CUDA tensor with the computed values; makes no CUDA call but what allocation needs."""
    if computed.layout != torch.strided or computed.is_nested:
        return rebuilt(computed, lambda part: _on_device(part, device))
    fresh = torch.empty(computed.shape, dtype=computed.dtype, device=device)
    if fresh.numel():
        alias(fresh).copy_(computed)
    return fresh


def _device_in(values):
    """The CUDA device an argument lives on or asks for, or None."""
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.is_cuda:
                return value.device
        elif isinstance(value, torch.device):
            if value.type == "cuda":
                return value
        elif isinstance(value, torch.Generator):
            if value.device.type == "cuda":
                return value.device
        elif isinstance(value, (list, tuple)) and value:
            found = _device_in(value)
            if found is not None:
                return found
    return None


class _Plan:
    """What is known of one operator overload, worked out once."""

    __slots__ = ("action", "name", "compute", "written", "written_keywords", "random", "aliased", "reads", "single", "decides")

    def __init__(self, func):
        self.action = self._choose(func)
        self.name = str(func)
        if self.action != "compute":
            return
        schema = func._schema
        self.name = schema.name
        overload = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
        self.compute = SUBSTITUTES.get(overload, func)
        writes = [i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
        self.written = frozenset(i for i in writes if not schema.arguments[i].kwarg_only)
        self.written_keywords = frozenset(schema.arguments[i].name for i in writes)
        self.random = torch.Tag.nondeterministic_seeded in func.tags
        self.aliased = [r.alias_info is not None for r in schema.returns]
        self.single = len(schema.returns) == 1
        self.reads = host_reads(self.name, func)
        self.decides = self.name in DECIDES

    @staticmethod
    def _choose(func):
        if not isinstance(func, torch._ops.OpOverload):  # a higher-order operator
            return "inside" if func is torch.ops.higher_order.cond else "pass"
        if func.namespace not in COMPUTED_NAMESPACES:
            return "pass" if func.namespace in ("c10d", "_c10d_functional", "symm_mem") else "inside"
        if func._schema.name in PASS:
            return "pass"
        name, has_kernel = func.name(), torch._C._dispatch_has_kernel_for_dispatch_key
        if has_kernel(name, "CompositeImplicitAutograd") and not has_kernel(name, "CUDA"):
            return "inside"  # these come whole where autograd is off (inference mode)
        if func.is_view:
            return "pass"
        return "inside" if func._schema.name in TAKEN_APART else "compute"


_plans = {}


def _leave_to_dynamo(dynamo):
    """From now on dynamo does not look into the mode."""
    disabled = dynamo.disable(ValueMode._dispatch)
    ValueMode.__torch_dispatch__ = lambda self, func, types, args=(), kwargs=None: disabled(self, func, types, args, kwargs or {})
    dynamo.eval_frame.skip_code(ValueMode.__torch_dispatch__.__code__)


class ValueMode(TorchDispatchMode):
    supports_higher_order_operators = True

    @classmethod
    def ignore_compile_internals(cls):
        """Compiled regions are compiled as without the mode; what they launch has no values, and is said to have none."""
        return True

    @classmethod
    def _should_skip_dynamo(cls):
        """PyTorch would wrap what follows in torch._dynamo.disable, whose import costs a program most of a second: done below,
        once the program itself has imported it."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        dynamo = sys.modules.get("torch._dynamo")
        if dynamo is not None and hasattr(dynamo, "disable"):
            _leave_to_dynamo(dynamo)
        return self._dispatch(func, types, args, kwargs or {})

    def _dispatch(self, func, types, args, kwargs):
        for key in _TRACING:
            if _get_mode(key) is not None:
                return func(*args, **kwargs)
        for t in types:
            if t not in _PLAIN:
                return NotImplemented  # a subclass runs first; what it calls comes back here
        plan = _plans.get(func)
        if plan is None:
            plan = _plans[func] = _Plan(func)
        if plan.action == "pass":
            return func(*args, **kwargs)
        if plan.action == "inside":
            return self._inside(func, args, kwargs)
        device = _device_in(args)
        if device is None and kwargs:
            device = _device_in(kwargs.values())
        if device is None:
            return func(*args, **kwargs)
        index = device.index
        if index is None:
            index = torch._C._cuda_getDevice() if torch.cuda.is_initialized() else 0
        stream = torch._C._cuda_getCurrentRawStream(index) if torch.cuda.is_initialized() else None
        if runtime.library.hw_sim_value_begin(stream):
            return func(*args, **kwargs)  # under capture nothing runs
        try:
            return self._compute(func, plan, index, args, kwargs)
        finally:
            runtime.library.hw_sim_value_end()

    def _inside(self, func, args, kwargs):
        """An operator made of others: its own kernel is run with the mode on, so that what it calls is computed and what it
        decides by reading the device is decided by values."""
        with self:
            if func is torch.ops.higher_order.cond:
                condition, when_true, when_false, operands = args
                return (when_true if condition else when_false)(*operands)
            if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
                return func.decompose(*args, **kwargs)
            device = _device_in(args) or _device_in(kwargs.values())
            return func.redispatch(_ON_CPU if device is None else _ON_CUDA, *args, **kwargs)

    def _compute(self, func, plan, index, args, kwargs):
        values, failure, written = None, None, []
        try:
            host_args = [_to_host(v, i in plan.written, written) for i, v in enumerate(args)]
            host_kwargs = {k: _to_host(v, k in plan.written_keywords, written) for k, v in kwargs.items()}
            if host_kwargs.get("pin_memory"):
                host_kwargs["pin_memory"] = False
            if plan.random:
                values = _random(plan.compute, index, args, kwargs, host_args, host_kwargs)
            else:
                values = plan.compute(*host_args, **host_kwargs)
        except Exception as error:  # no such CPU kernel, or a call that is wrong: then the real operation raises below
            failure = error
        scripted = self._script(plan, host_args, host_kwargs, values) if failure is None and plan.reads else None
        try:
            out = self._inside(func, args, kwargs) if plan.decides else func(*args, **kwargs)
        finally:
            if scripted is not None:
                runtime.library.hw_sim_script_d2h(0, None)
        if failure is not None:
            runtime.unvalued(plan.name, failure)
            return _spoil(out, args, kwargs, plan)
        try:
            for real, computed in written:
                _store(real, computed, plan.name)
            return self._results(plan, out, values)
        except Exception as error:  # a layout nothing here knows how to write
            runtime.unvalued(plan.name, error)
            return out

    @staticmethod
    def _script(plan, args, kwargs, values):
        """Sets what the real operation will read back; the array that must live until then, or None."""
        try:
            reads = plan.reads(args, kwargs, values)
            return runtime.script(reads) if reads else None
        except Exception as error:
            runtime.unvalued(plan.name, f"what it reads back: {error}")
            return None

    @staticmethod
    def _results(plan, out, values):
        if out is None:
            return out
        if plan.single:
            return out if plan.aliased[0] else _result(out, values, plan.name)
        results = [
            o if a or (n and (_is_empty(o) or _is_empty(v))) else _result(o, v, plan.name)
            for n, (o, v, a) in enumerate(zip(out, values, plan.aliased))
        ]
        return type(out)(results) if type(out) in (tuple, list) else type(out)(*results)


def _to_host(value, is_written, written):
    """The argument as the CPU sees it. What the operation writes is a copy, paired in `written` with the real tensor: the real
    operation may move bytes of its own before the result is stored."""
    if isinstance(value, torch.Tensor):
        host = alias(value) if value.is_cuda else value
        if is_written:
            host = host.clone()
            written.append((value, host))
        return host
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], (torch.Tensor, type(None))):
            return [_to_host(v, is_written, written) for v in value]
        return value
    if isinstance(value, torch.device):
        return _CPU
    return value


def _random(compute, index, args, kwargs, host_args, host_kwargs):
    """Draws from a CPU generator set from the state of the CUDA one, which the real operation then moves on; the program's
    CPU generator is left as it was. The same CUDA state gives the same numbers: checkpointing recomputes what it saw."""
    device_generator = next((g for g in (*args, *kwargs.values()) if isinstance(g, torch.Generator)), None)
    if device_generator is None:
        torch.cuda.init()
        device_generator = torch.cuda.default_generators[index]
    seed = (device_generator.initial_seed() * 0x9E3779B97F4A7C15 + device_generator.get_offset()) & 0x7FFFFFFFFFFFFFFF
    cpu = torch.default_generator
    before = cpu.get_state()
    cpu.manual_seed(seed)
    try:
        swap = lambda v: None if isinstance(v, torch.Generator) else v  # noqa: E731
        return compute(*map(swap, host_args), **{k: swap(v) for k, v in host_kwargs.items()})
    finally:
        cpu.set_state(before)


def _is_empty(result):
    """A further result the caller did not ask for."""
    return isinstance(result, torch.Tensor) and result.numel() == 0


def _store(real, computed, name):
    if real.layout != torch.strided or real.is_nested:
        for r, c in zip(storages(real), storages(computed)):
            _store(r, c, name)
    elif real.shape != computed.shape:
        runtime.unvalued(name, f"result has shape {tuple(computed.shape)}, the operation wrote {tuple(real.shape)}")
    elif real.numel():
        (alias(real) if real.is_cuda else real).copy_(computed)


def _result(real, computed, name):
    """The value to return for one result of the real operation."""
    if computed is None:
        return real
    if isinstance(real, (list, tuple)):
        return type(real)(_result(r, c, name) for r, c in zip(real, computed))
    if not isinstance(real, torch.Tensor) or not isinstance(computed, torch.Tensor):
        return computed if isinstance(real, (bool, int, float, complex)) else real
    if real.layout != torch.strided or real.is_nested:
        parts = list(zip(storages(real), storages(computed)))
        if any(r.shape != c.shape for r, c in parts):
            return _on_device(computed, real.device) if real.is_cuda else computed
        for r, c in parts:
            if r.numel() and not any(n > 1 and step == 0 for n, step in zip(r.shape, r.stride())):  # expanded: a view of an argument
                (alias(r) if r.is_cuda else r).copy_(c)
        return real
    if real.shape == computed.shape:
        if real.numel():
            (alias(real) if real.is_cuda else real).copy_(computed)
        return real
    if real.numel() or computed.numel():
        runtime.unvalued(name, f"shape {tuple(real.shape)} without values, {tuple(computed.shape)} with: its calls may differ")
    return _on_device(computed, real.device) if real.is_cuda else computed


def _spoil(out, args, kwargs, plan):
    """Marks what the operation should have written: NaN can be seen, stale memory cannot."""
    targets = [out] + [args[i] for i in plan.written if i < len(args)] + [kwargs.get(k) for k in plan.written_keywords]
    while targets:
        t = targets.pop()
        if isinstance(t, (list, tuple)):
            targets.extend(t)
        elif isinstance(t, torch.Tensor) and t.is_cuda and t.layout == torch.strided and not t.is_nested and t.numel():
            alias(t).fill_(float("nan") if t.is_floating_point() or t.is_complex() else 0)
    return out
