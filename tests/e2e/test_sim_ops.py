"""The calls PyTorch makes on the simulated stack, operation by operation, against a table of facts."""

import os
import subprocess
import sys

from sim_environment import run

COLUMNS = "name where setup expression h2d d2h waits launches library calls raises source note".split()


def rows(text):
    found = [dict(zip(COLUMNS, line.split("\t"))) for line in text.splitlines() if not line.startswith("#")]
    return {row["name"]: row for row in found}


def compare(expected, measured, where):
    wanted = {name: row for name, row in expected.items() if row["where"] == where}
    assert list(measured) == list(wanted)
    differences = [
        f"{name}: {column}: {measured[name][column]} for {row[column]}"
        for name, row in wanted.items()
        for column in COLUMNS
        if measured[name][column] != row[column]
    ]
    assert not differences, "\n".join(differences)


def test_every_row(build, torch_python, root, tmp_path):
    table = root / "tests/e2e/data/sim_ops.tsv"
    expected = rows(table.read_text())
    assert len(expected) == 373 and all(row["source"] == "simulated" for row in expected.values())
    done = run(build, torch_python, root / "tests/e2e/sim_ops.py", table, "device", trace=tmp_path / "trace")
    compare(expected, rows(done.stdout), "device")
    assert "no value" not in done.stderr


def test_every_row_of_two_ranks(build, torch_python, root, tmp_path):
    table = root / "tests/e2e/data/sim_ops.tsv"
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", root / "tests/e2e/sim_ops.py"]
    done = run(build, torch_python, *launcher, table, "ranks", devices=2, trace=tmp_path / "trace.%p")
    compare(rows(table.read_text()), rows(done.stdout), "ranks")


def test_print_of_zeros_waits_less(build, torch_python, root, tmp_path):
    """On values the row of the table says 141 waits."""
    table = tmp_path / "table.tsv"
    table.write_text("print\tdevice\tx = torch.randn(8, 8).cuda() + 0\tstr(x)\n")
    done = run(build, torch_python, root / "tests/e2e/sim_ops.py", table, "device", values=False, trace=tmp_path / "trace")
    assert rows(done.stdout)["print"]["waits"] == "9x StreamSynchronize"


def test_the_recorder_sees_what_the_simulator_did(build, torch_python, root, tmp_path):
    """gpu-check on the simulated stack gives the table back, but for what happens inside the math libraries."""
    table, written = root / "tests/e2e/data/sim_ops.tsv", tmp_path / "recorded.tsv"
    command = [sys.executable, root / "scripts/gpu-check", "--simulate", "--record", written]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "B": str(build)}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("373 of 373 rows recorded (simulated)")
    expected, recorded = rows(table.read_text()), rows(written.read_text())
    same = ("h2d", "d2h", "waits", "launches", "raises", "source", "note")
    assert [[row[c] for c in same] for row in recorded.values()] == [[row[c] for c in same] for row in expected.values()]
    assert all(row["calls"] == expected[name]["calls"] for name, row in recorded.items() if expected[name]["library"] == "-")
