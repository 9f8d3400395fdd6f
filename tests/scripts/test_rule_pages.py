"""The examples of the rule pages are linted: what is called wrong is found, what is called right or allowed is not."""

import json
import re
import subprocess
import textwrap

import pytest

def run_only(root):
    """Rules that lint does not know, and HW501, which only the run sees so far."""
    rows = re.findall(r'^HW_RULE\((\d+), "[^"]*", \w+, "(\w+)"', (root / "core/rules.def").read_text(), re.M)
    return {f"HW{number}" for number, where in rows if "L" not in where} | {"HW501"}


HEADER = """import time
import torch
import torch.distributed as dist


class ExampleMonitor:
"""


def module(block):
    """A file around an example: functions become a monitor's methods, `hook` the function inside a factory, statements its body."""
    hook, methods = [], []
    for part in re.split(r"\n\n(?=def )", block.strip()):
        if part.startswith("def hook("):
            hook.append(part)
        elif part.startswith("def "):
            methods.append(part)
        else:
            hook.append("def hook(module, inputs, output):\n" + textwrap.indent(part, "    "))
    for part in hook:
        methods.append("def _make_example_hook(self, index):\n" + textwrap.indent(part, "    ") + "\n    return hook")
    return HEADER + textwrap.indent("\n\n".join(methods), "    ") + "\n"


def examples(root):
    for page in sorted((root / "docs/rules").glob("HW*.md")):
        for section in re.split(r"^## ", page.read_text(), flags=re.M)[1:]:
            for block in re.findall(r"```python\n(.*?)```", section, re.S):
                yield page.stem, section.splitlines()[0], block


def lint(hookwatch, tmp_path, text):
    path = tmp_path / "monitor.py"
    path.write_text(text)
    command = [hookwatch, "lint", "--output-format", "json", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return [finding["code"] for finding in json.loads(done.stdout)]


def test_examples(root, hookwatch, tmp_path):
    wrong, seen = [], set()
    for code, section, block in examples(root):
        if code in run_only(root):
            continue
        found = lint(hookwatch, tmp_path, module(block))
        seen.add(code)
        if section == "Wrong" and code not in found:
            wrong.append(f"{code}: the wrong example gives {found}\n{module(block)}")
        if section == "Right" and found:
            wrong.append(f"{code}: the right example gives {found}\n{module(block)}")
        if section == "How to allow" and code in found:
            wrong.append(f"{code}: allowed, and still found\n{module(block)}")
    assert len(seen) > 10
    assert not wrong, "\n".join(wrong)
