"""Value inference, marked in the sources themselves: `#! HW101` on each line that has findings, and nothing anywhere else."""

import pathlib
import re

import pytest

VALUES = pathlib.Path(__file__).resolve().parent / "values"


@pytest.mark.parametrize("path", sorted(VALUES.glob("*.py")), ids=lambda path: path.stem)
def test_values(project, path):
    text = path.read_text(encoding="utf-8")
    project.write("a.py", text)
    wanted = {(row, code) for row, line in enumerate(text.splitlines(), 1) for code in re.findall(r"HW\d+", line.partition("#!")[2])}
    assert wanted
    found = {(row, code) for _, row, code in project.lines("--ignore", "HW307", ".")}
    assert found == wanted
