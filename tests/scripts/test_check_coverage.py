"""scripts/check-coverage: passes on the tree as it is, and fails on each kind of mistake."""

import shutil
import subprocess

import pytest


@pytest.fixture
def tree(root, tmp_path):
    """A copy of the table, with the two files that its rows below name."""
    for name in ("scripts/check-coverage", "tests/COVERAGE.tsv", "tests/coverage-ids.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    (tmp_path / "tests/test_a.py").write_text("def test_one():\n    pass\n")
    (tmp_path / "tests/test_b.c").write_text("static void frees_all(void **state)\n{\n}\n")
    rows = (tmp_path / "tests/COVERAGE.tsv").read_text().splitlines()
    waiting = [row.split("\t")[0] + "\twaiting\tlint" for row in rows[1:]]
    (tmp_path / "tests/COVERAGE.tsv").write_text("\n".join([rows[0], *waiting]) + "\n")
    return tmp_path


def check(tree, old=None, new=None):
    """Runs the check after replacing the first `old` of the table."""
    table = tree / "tests/COVERAGE.tsv"
    if old:
        text = table.read_text()
        assert old in text
        table.write_text(text.replace(old, new, 1))
    return subprocess.run([tree / "scripts/check-coverage"], capture_output=True, text=True)


def test_the_tree_passes(root):
    done = subprocess.run([root / "scripts/check-coverage"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_good_rows_pass(tree):
    check(tree, "T01\twaiting\tlint", "T01\ttest\ttests/test_a.py::test_one")
    check(tree, "T02\twaiting\tlint", "T02\ttest\ttests/test_b.c::frees_all")
    done = check(tree, "T03\twaiting\tlint", "T03\tlimit\ttests/test_b.c")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("coverage: 2 test, 1 limit, ")


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("T01\twaiting\tlint\n", "", "T01 has 0 rows"),
        ("T02\twaiting", "T01\twaiting", "T01 has 2 rows"),
        ("T01\twaiting", "T99\twaiting", "T99 is not in"),
        ("T01\twaiting", "T01\tdone", "unknown state done"),
        ("T01\twaiting\tlint", "T01\twaiting\tsomebody", "somebody is no house"),
        ("T01\twaiting\tlint", "T01\twaiting", "2 columns"),
        ("T01\twaiting\tlint", "T01\ttest\ttests/test_gone.py::test_one", "no such file"),
        ("T01\twaiting\tlint", "T01\ttest\ttests/test_a.py::test_gone", "defines no test_gone"),
        ("T01\twaiting\tlint", "T01\ttest\ttests/test_b.c::gone", "defines no gone"),
        ("T01\twaiting\tlint", "T01\ttest\t", "no target"),
        ("T01\twaiting\tlint", "T01\tlimit\tdocs/gone.md", "no such file"),
    ],
)
def test_a_mistake_fails(tree, old, new, message):
    done = check(tree, old, new)
    assert done.returncode == 1
    assert message in done.stderr
