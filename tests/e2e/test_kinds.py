"""Which functions of a program are hooks, on real PyTorch: every kind of registration, and what only looks like one."""

import pathlib
import shutil
import socket

SOURCE = pathlib.Path(__file__).parent / "kinds.py"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_hooks_and_nothing_else(simulate, report, tmp_path):
    lines = SOURCE.read_text().splitlines()
    expected = {row for row, line in enumerate(lines, 1) if line.endswith("# HOOK")}
    assert len(expected) == 14
    shutil.copy(SOURCE, tmp_path)
    simulate(tmp_path / "out", tmp_path / SOURCE.name, free_port())
    blamed = [f for f in report(tmp_path / "out")["findings"] if f["severity"] != "note"]
    assert {f["location"]["row"] for f in blamed if f["filename"]} == expected
    nested = next(row for row, line in enumerate(lines, 1) if line.lstrip().startswith("return output.sum()"))
    assert [f["hook"] for f in blamed if f["location"]["row"] == nested] == ["Probe._make_nested_hook.<locals>.hook"]
    assert [(f["code"], f["hook"]) for f in blamed if not f["filename"]] == [("HW105", "print")]


def test_value_mode_survives_a_look_up_of_torch(simulate, report, tmp_path):
    script = tmp_path / "look.py"
    script.write_text("import importlib.util\nassert importlib.util.find_spec('torch')\nimport torch\nprint(torch.ones(3, device='cuda').sum().item())\n")
    assert simulate(tmp_path / "out", script).stdout == "3.0\n"
    assert report(tmp_path / "out")["coverage"]["status"] == "full"


def test_an_isolated_interpreter_has_values_too(simulate, report, tmp_path):
    script = tmp_path / "isolated.py"
    script.write_text("import torch\nprint(torch.ones(3, device='cuda').sum().item())\n")
    assert simulate(tmp_path / "out", "-I", script).stdout == "3.0\n"
    assert report(tmp_path / "out")["coverage"]["status"] == "full"
