"""The generated rows of knowledge: made again they are the same, sorted, and the linter believes them."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_generated_rows_are_those_of_this_torch(torch_python):
    run = subprocess.run([torch_python, ROOT / "scripts" / "generate-knowledge", "--check"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", ["aten_calls", "aten_methods"])
def test_rows_are_sorted_for_the_search(name):
    names = re.findall(r'^HW_\w+\("([^"]+)"', (ROOT / "lint" / "knowledge" / f"{name}.def").read_text(), re.M)
    assert len(names) > 50 and names == sorted(set(names))


def test_what_they_say_is_believed(project):
    project.write(
        "a.py",
        "import torch\n\ndef _make_x_hook(s):\n    def h(m, i, o):\n"
        "        if torch.chunk(o, 2):\n            s.add(1)\n"  # a tuple: no truth value of a tensor
        "        if o.is_neg():\n            s.add(2)\n"  # host
        "        if torch.chunk(o, 2)[0].any():\n            s.add(3)\n"  # an element of it is a tensor
        "        if torch.median(o) > 1:\n            s.add(4)\n"
        "        first, where = torch.median(o, dim=0)\n        s.add(first.tolist())\n    return h\n",
    )
    assert project.lines() == [("a.py", 9, "HW103"), ("a.py", 11, "HW103"), ("a.py", 14, "HW101")]


def test_paddle_counts_elements_on_the_device(project):
    body = "def _make_x_hook(s):\n    def h(m, i, o):\n        s.add(int(o.numel()))\n    return h\n"
    project.write("a.py", "import paddle\n\n" + body)
    project.write("b.py", "import torch\n\n" + body)
    assert project.lines() == [("a.py", 5, "HW101")]
