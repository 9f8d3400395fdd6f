"""Syntax the parser does not know: what it hides in or near a hook is reported, what it hides elsewhere is not."""

import pytest


def hook(*lines):
    return "def _make_x_hook(s, n):\n    def h(m, i, o):\n" + "".join(f"        {line}\n" for line in lines) + "    return h\n"


@pytest.mark.parametrize(
    "line",
    ["print >>f, o.x y", "x = = 1", "if n\n            pass", "s.add(t'{o!q:>{n}}' 3)"],
)
def test_a_hook_that_cannot_be_read_whole_says_so(project, line):
    project.write("a.py", hook("s.add(o.item())", line))
    found = project.lines()
    assert "HW901" in [code for _, _, code in found]
    assert all(row >= 3 for _, row, _ in found)


def test_what_can_be_read_is_still_found(project):
    project.write("a.py", hook("s.add(o.item())", "x = = 1"))
    assert project.lines() == [("a.py", 3, "HW101"), ("a.py", 4, "HW901")]


@pytest.mark.parametrize(
    "line", ["return o.item(), *(None,) * n", "x, *r = o.item(), *[n]", "x = o.item(), *[n], *(n,)", "return t'{o.item():>{n}}', *[n]"]
)
def test_what_python_reads_and_the_grammar_does_not_is_read(project, line):
    project.write("a.py", hook(line))
    (finding,) = project.lint()
    assert finding["code"] == "HW101"
    assert finding["location"] == {"row": 3, "column": 8 + line.index("item") + 1}


@pytest.mark.parametrize(
    "text",
    [
        "def f[T = int](x: T) -> T:\n    return x\n\n",
        "type Pair[T = int] = tuple[T, T]\n\n",
        "def g(a, n):\n    return a, *(None,) * n\n\n",
        "x = f'{{{a}}} {b!r:>{c}} {d if e else\"f\"}'\n\n",
        "print 'python 2'\n\n",
        "exec 'x = 1' in {}\n\n",
        "match = 1\n\nmatch match:\n    case [1, *rest] if rest: pass\n    case {'a': 1, **kw}: pass\n    case _: pass\n\n",
        "async def f():\n    async with a as b, c: pass\n    async for x in y: await z\n\n",
        "try:\n    pass\nexcept* ValueError:\n    pass\n\n",
        "def f(a, /, b, *, c): ...\n\n",
        "if (y := f(x)) is not None: print(y)\n\n",
        "class A[T]: pass\n\n",
        "lambda *a, **k: (yield)\n\n",
    ],
)
def test_odd_syntax_before_a_hook_does_not_hide_it(project, text):
    project.write("a.py", text + hook("s.add(o.item())"))
    assert [code for _, _, code in project.lines()] == ["HW101"]


def test_lost_text_that_speaks_of_hooks_is_reported(project):
    project.write("a.py", "def (:\n    net.register_forward_hook(lambda m, i, o: o.item()\n\n\n)]}\n")
    assert "HW901" in [code for _, _, code in project.lines()]


def test_static_data_asked_of_the_device(project):
    project.write("a.py", hook("n = int(o.max()) + 1", "k = o.max().item() + 1", "j = int(o.max())"))
    messages = [f["message"] for f in project.lint()]
    assert ["pass it in" in m for m in messages] == [True, True, False]
