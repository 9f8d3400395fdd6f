"""Which functions are hooks, how far calls are followed, and what is left alone."""

import pytest

ROOTS = {
    "function": "def h(m, i, o):\n    o.item()\n\ndef go(n):\n    n.register_forward_hook(h)\n",
    "keyword": "def h(m, i, o):\n    o.item()\n\ndef go(n):\n    n.register_forward_hook(hook=h)\n",
    "lambda": "def go(n):\n    n.register_forward_hook(lambda m, i, o:\n        o.item())\n",
    "bound method": "class P:\n    def h(self, m, i, o):\n        o.item()\n\n    def go(self, n):\n        n.register_forward_hook(self.h)\n",
    "partial": "from functools import partial\n\ndef h(k, m, i, o):\n    o.item()\n\ndef go(n):\n    n.register_forward_hook(partial(h, 3))\n",
    "callable instance": "class P:\n    def __call__(self, m, i, o):\n        o.item()\n\ndef go(n):\n    n.register_forward_hook(P())\n",
    "factory": "def f():\n    def h(m, i, o):\n        o.item()\n    return h\n\ndef go(n):\n    n.register_forward_hook(f())\n",
    "nested factory": "def f():\n    def g():\n        def h(m, i, o):\n            o.item()\n        return h\n    return g\n\n"
    "def go(n):\n    n.register_forward_hook(f()())\n",
    "wrapped": "class P:\n    def timed(self, name, fn):\n        def w(*a, **k):\n            return fn(*a, **k)\n        return w\n\n"
    "    def make(self):\n        def h(m, i, o):\n            o.item()\n        return h\n\n"
    "    def go(self, n):\n        n.register_forward_hook(self.timed('x', self.make()), with_kwargs=True)\n",
    "unknown wrapper": "from elsewhere import timed\n\ndef h(m, i, o):\n    o.item()\n\ndef go(n):\n    n.register_forward_hook(timed('x', h))\n",
    "chosen by if": "def h(m, i, o):\n    o.item()\n\ndef k(m, i, o):\n    pass\n\ndef go(n, c):\n"
    "    if c:\n        fn = h\n    else:\n        fn = k\n    n.register_forward_hook(fn)\n",
    "registration chosen": "def h(m, i, o):\n    i[0].item()\n\ndef go(n, pre):\n"
    "    (n.register_forward_pre_hook if pre else n.register_forward_hook)(h)\n",
    "getattr": "def h(m, i, o):\n    o.item()\n\ndef go(n):\n    getattr(n, 'register_forward_hook')(h)\n",
    "table": "def h(m, i, o):\n    o.item()\n\nT = {'a': h}\n\ndef go(n, k):\n    n.register_forward_hook(T[k])\n",
    "setattr": "class P:\n    def __init__(self):\n        setattr(self, 'fn', h)\n\n    def go(self, n):\n"
    "        n.register_forward_hook(self.fn)\n\ndef h(m, i, o):\n    o.item()\n",
    "inside a hook": "def g(grad):\n    grad.item()\n\ndef h(m, i, o):\n    o.register_hook(g)\n\ndef go(n):\n    n.register_forward_hook(h)\n",
    "subclass": "class B:\n    def go(self, n):\n        n.register_forward_hook(self.h)\n\n    def h(self, m, i, o):\n        self.record(o)\n\n"
    "class P(B):\n    def record(self, t):\n        t.item()\n",
    "tensor": "def h(g):\n    g.item()\n\ndef go(t):\n    t.register_hook(h)\n",
    "post accumulate": "def h(p):\n    p.grad.item()\n\ndef go(t):\n    t.register_post_accumulate_grad_hook(h)\n",
    "multi grad": "from torch.autograd.graph import register_multi_grad_hook as r\n\ndef h(gs):\n    [g.item() for g in gs]\n\ndef go(ts):\n    r(ts, h)\n",
    "global": "from torch.nn.modules.module import register_module_forward_hook\n\ndef h(m, i, o):\n    o.item()\n\n"
    "register_module_forward_hook(h)\n",
    "saved tensors": "import torch\n\ndef p(t):\n    return t.item()\n\ndef u(x):\n    return x\n\ndef go(f):\n"
    "    with torch.autograd.graph.saved_tensors_hooks(p, u):\n        f()\n",
    "saved tensors by inheritance": "import torch\n\nclass Pack(torch.autograd.graph.saved_tensors_hooks):\n    def __init__(self):\n"
    "        def pack(x):\n            return x.item()\n        super().__init__(pack, lambda x: x)\n",
    "paddle": "def h(m, i, o):\n    o.item()\n\ndef go(n):\n    n.register_forward_post_hook(h)\n",
    "decorated": "import torch\n\n@torch.no_grad()\ndef h(m, i, o):\n    o.item()\n\ndef go(n):\n    n.register_forward_hook(h)\n",
    "named factory": "class P:\n    def _make_x_hook(self):\n        def h(m, i, o):\n            o.item()\n        return h\n",
}


@pytest.mark.parametrize("kind", ROOTS)
def test_every_kind_of_hook_is_found(project, kind):
    text = ROOTS[kind]
    project.write("a.py", text)
    row = next(n for n, line in enumerate(text.splitlines(), 1) if ".item()" in line)
    assert project.lines() == [("a.py", row, "HW101")]


@pytest.mark.parametrize(
    "hook", ["print", "hook=print", "partial(print, 'x')", "log.info", "logging.warning", "partial(logging.info, '%s %s %s')", "log.debug"]
)
def test_functions_of_libraries_are_hooks_too(project, hook):
    line = f"    n.register_forward_hook({hook})"
    project.write("a.py", f"import logging\nfrom functools import partial\n\nlog = logging.getLogger('x')\n\ndef go(n):\n{line}\n    n.register_forward_hook(len)\n")
    (finding,) = project.lint()
    assert (finding["code"], finding["location"]["row"]) == ("HW105", 7)
    assert finding["location"]["column"] == line.index(hook.removeprefix("hook=")) + 1


@pytest.mark.parametrize(
    "text",
    [
        "def h(m, s, p, meta):\n    s['w'].item()\n\ndef go(n):\n    n._register_state_dict_hook(h)\n",
        "def h(state, bucket):\n    bucket.buffer().item()\n\ndef go(n):\n    n.register_comm_hook(None, h)\n",
        "def h(o, a, k):\n    o.x.item()\n\ndef go(n):\n    n.register_step_post_hook(h)\n",
        "class C:\n    def on_train_batch_end(self, t, o):\n        o['loss'].item()\n",
        "def _compute(t):\n    return t.item()\n\ndef loop(o):\n    _compute(o)\n",
    ],
)
def test_cold_code_is_left_alone(project, text):
    project.write("a.py", text)
    assert project.lines() == []


IMPORTS = {
    "from": "from pkg.helpers import read",
    "alias": "from pkg.helpers import read as r\nread = r",
    "module": "import pkg.helpers\nread = pkg.helpers.read",
    "module alias": "import pkg.helpers as h\nread = h.read",
    "relative": "from .helpers import read",
    "relative module": "from . import helpers\nread = helpers.read",
    "parent": "from ..pkg.helpers import read",
    "re-export": "from pkg import read",
    "star": "from .helpers import *",
    "type checking": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .helpers import read\nelse:\n    from .helpers import read",
    "fallback": "try:\n    from fast_read import read\nexcept ImportError:\n    from .helpers import read",
    "local": "def read(t):\n    from .helpers import read as inner\n    return inner(t)",
}


@pytest.mark.parametrize("kind", IMPORTS)
def test_calls_are_followed_through_every_form_of_import(project, kind):
    project.write("top/__init__.py", "")
    project.write("top/pkg/__init__.py", "from .helpers import read\n")
    project.write("top/pkg/helpers.py", "def read(t):\n    return t.item()\n")
    text = IMPORTS[kind].replace("from pkg", "from top.pkg").replace("import pkg.helpers", "import top.pkg.helpers").replace("= pkg.", "= top.pkg.")
    project.write("top/pkg/mon.py", text + "\n\ndef _make_x_hook():\n    def h(m, i, o):\n        read(o)\n    return h\n")
    assert project.lines() == [("top/pkg/helpers.py", 2, "HW101")]
    # The helper need not be among the arguments.
    assert project.lines("top/pkg/mon.py") == [("top/pkg/helpers.py", 2, "HW101")]


def test_witness_names_every_call(project):
    project.write("deep.py", "def c(t):\n    return t.cpu()\n\ndef b(t):\n    return c(t)\n")
    project.write("mon.py", "from deep import b\n\ndef _make_x_hook():\n    def h(m, i, o):\n        x = 1\n        b(o)\n    return h\n")
    (finding,) = project.lint()
    steps = [(s["function"], s["filename"].rsplit("/", 1)[1], s["row"]) for s in finding["witness"]]
    assert steps == [("_make_x_hook.<locals>.h", "mon.py", 6), ("b", "deep.py", 5), ("c", "deep.py", 2)]


def test_what_a_failing_path_calls_is_still_judged_elsewhere(project):
    project.write(
        "a.py",
        "def read(t):\n    return t.item()\n\ndef _make_x_hook(s):\n    def h(m, i, o):\n        if s is None:\n"
        "            raise ValueError(read(o))\n        s.add(read(o))\n    return h\n",
    )
    (finding,) = project.lint()
    assert [s["row"] for s in finding["witness"]] == [8, 2]


def test_framework_hooks_are_their_own_business(project):
    hook = "def _make_x_hook():\n    def h(m, i, o):\n        o.item()\n    return h\n"
    project.write("megatron/core/ddp.py", hook)
    project.write("lib/site-packages/torch/x.py", hook)
    project.write("mine/x.py", hook)
    assert project.lines(".", "lib/site-packages/torch/x.py") == [("mine/x.py", 3, "HW101")]
    assert project.run("megatron").stdout == "no findings: 0 hooks in 1 file analysed\n"


def test_helpers_are_judged_by_what_each_caller_gives_them(project):
    project.write(
        "a.py",
        """
        def scale(x):
            return float(x) * 2

        def _make_a_hook(s):
            def h(m, i, o):
                s.add(scale(o.shape[0]))
            return h
        """,
    )
    assert project.lines() == []
    project.write("b.py", "from a import scale\n\ndef _make_b_hook(s):\n    def h(m, i, o):\n        s.add(scale(o.sum()))\n    return h\n")
    assert project.lines() == [("a.py", 3, "HW101")]


KEEPS = """
    def _make_fwd_hook(self):
        def h(m, i, o):
            self.last = o.amax().detach()
            self.count += 1
        return h
"""

READS = """
    def _make_bwd_hook(self):
        def h(m, gi, go):
            if self.count > 3:
                return float(self.last)
        return h
"""


@pytest.mark.parametrize("methods", [KEEPS + READS, READS + KEEPS])
def test_values_kept_on_self_are_known_in_other_hooks(project, methods):
    text = "class P:\n    def __init__(self):\n        self.last, self.count = None, 0\n" + methods
    project.write("a.py", text)
    row = next(n for n, line in enumerate(text.splitlines(), 1) if "float(" in line)
    assert project.lines() == [("a.py", row, "HW101")]


def test_carriers_pull_in_files_that_do_not_speak_of_hooks(project):
    project.write("util.py", "def attach(m, fn):\n    return m.register_forward_hook(fn)\n")
    project.write("user.py", "from util import attach\n\ndef show(m, i, o):\n    return o.item()\n\ndef go(n):\n    attach(n, show)\n")
    assert project.lines() == [("user.py", 4, "HW101")]


def test_batches_find_the_same(project):
    project.write("util.py", "def read(t):\n    return t.item()\n")
    for name in "abc":
        project.write(f"{name}.py", f"from util import read\n\ndef _make_{name}_hook():\n    def h(m, i, o):\n        read(o), o.cpu()\n    return h\n")
    whole = project.lines()
    parts = sorted({line for name in ("util", "c", "a", "b") for line in project.lines(f"{name}.py")})
    assert parts == whole and len(whole) == 4
    assert project.lines("c.py", "b.py", "util.py", "a.py") == whole
