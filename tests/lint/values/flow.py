"""Values through branches, loops, calls, defaults, properties and closures."""
import torch


def double(t, scale=2.0, *rest, bias=None, **extra):
    if scale > 1:
        t = t * scale
    if bias is not None and extra.get("flag", False):
        t = t + bias
    return t


def passes_on(fn, *args, **kwargs):
    return fn(*args, **kwargs)


def is_large(t: torch.Tensor):
    return t > 3


def typed(t: torch.Tensor, n: int, name: str = "x"):
    if n > 3 and name:
        return float(t)  #! HW101
    return t


class Meter:
    def __init__(self, buf, count=0):
        self.buf, self.count = buf, count

    @property
    def mean(self):
        return self.buf.mean()

    @staticmethod
    def scaled(t, by):
        return t / by if by > 0 else t

    @classmethod
    def of(cls, t):
        return cls(t, count=1)

    def __call__(self, t):
        if self.count > 3:
            return t.sum()
        return self.buf


def with_default(t, flag=False):
    if flag:
        return t
    return t.sum()


def _make_flow_hook(cfg, sink):
    total = 0.0
    held = 0.0

    def hold(t):
        nonlocal held
        held = t.sum()

    def hook(module, args, kwargs, output):
        nonlocal total
        x = args[0] if args else kwargs["hidden"]
        y = double(x, cfg.scale, bias=x.mean(), flag=True)
        if passes_on(double, y, 3.0, flag=False).sum() > 0:  #! HW103
            sink.append(1)
        if is_large(y).any():  #! HW103
            sink.append(2)
        typed(cfg.unknown, cfg.n)
        z = None
        if cfg.deep:
            z = y.norm()
        if z is not None:
            sink.append(z)
        if z:  #! HW103
            sink.append(3)
        flag = cfg.a and y.sum() > 0
        if flag:  #! HW103
            sink.append(4)
        while y.sum() < 3:  #! HW103
            y = y + 1
        total = total + y.sum()
        if total > 3:  #! HW103
            sink.append(5)
        if 0 < y.sum() < 1:  #! HW103
            sink.append(6)
        meter = Meter.of(y)
        if meter.count > 0 and Meter.scaled(y, 3) is not None:
            float(meter.mean)  #! HW101
        bool(meter(y))  #! HW101
        pick = {"sum": lambda t: t.sum(), "n": lambda t: t.numel()}
        if pick["n"](y) > 3:
            int(pick["sum"](y))  #! HW101
        try:
            value = y.item()  #! HW101
        except RuntimeError:
            value = 0.0
        if value > 3:
            sink.append(value)
        with torch.cuda.stream(cfg.stream) as s, cfg.lock:
            sink.append(s)
        sink.extend(float(t) for t in y.unbind(0) if t is not None)  #! HW101
        sink.extend(map(lambda t: t.tolist(), [y]))  #! HW101
        sorted(cfg.names, key=lambda name: len(name))
        if (total := y.mean()) > 0:  #! HW103
            sink.append(7)
        try:
            sink.append(y.sum())
        except RuntimeError:  #! HW304
            sink.append(y.cpu().sum())  #! HW102
        try:
            sink.append(y.sum())
        except RuntimeError:
            sink.append(None)
        try:
            sink.append(y.sum())
        except RuntimeError as error:
            raise ValueError(y.tolist()) from error
        while not cfg.event.query():  #! HW110
            pass
        if cfg.event.query():
            sink.append(9)
        with_default(*args)
        before = None
        for t in args:
            if before is not None:
                float(before)  #! HW101
            before = t
        hold(y)
        if held > 3:  #! HW103
            sink.append(8)
        match total:
            case 1:  #! HW103
                pass
            case _:
                pass
        return None

    return hook
