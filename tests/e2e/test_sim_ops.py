"""The calls PyTorch makes on the simulated stack, operation by operation, against a table of facts."""

import json

from sim_environment import run


def measure(build, python, root, table, tmp_path, **options):
    done = run(build, python, root / "tests/e2e/sim_ops.py", table, trace=tmp_path / "trace", **options)
    return json.loads(done.stdout)


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def test_every_row(build, torch_python, root, tmp_path):
    table = root / "tests/e2e/data/sim_ops.tsv"
    measured = measure(build, torch_python, root, table, tmp_path)
    expected = {r[0]: dict(zip(("h2d", "d2h", "waits", "launches"), r[3:])) for r in rows(table)}
    assert len(expected) > 300
    wrong = {name: (row, measured[name]) for name, row in expected.items() if measured[name] != row}
    assert not wrong


def test_print_of_zeros_waits_less(build, torch_python, root, tmp_path):
    """On values the row of the table says 141 waits."""
    table = tmp_path / "table.tsv"
    table.write_text("print\tx = torch.randn(8, 8).cuda() + 0\tstr(x)\n")
    measured = measure(build, torch_python, root, table, tmp_path, values=False)
    assert measured["print"]["waits"] == "9x StreamSynchronize"
