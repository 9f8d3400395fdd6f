"""Each form of host wait, forward and backward: reported with its hook, file, line and code, predicted by lint, and nothing else."""

import pathlib
import re
import shutil

import pytest

HERE = pathlib.Path(__file__).parent
FILES = ("forms.py", "forms_helper.py")
FORMS_PER_STEP = 2  # one forward and one backward hook
STEPS = 3


def expected():
    """{(file, row, code, hook)} of the comments; a helper's lines belong to the hook that calls it."""
    found = set()
    for name in FILES:
        factory = None
        for row, line in enumerate((HERE / name).read_text().splitlines(), 1):
            if match := re.match(r"def (_make_\w+_hook)", line):
                factory = match[1]
            if match := re.search(r"# (HW\d+)$", line):
                found.add((name, row, match[1], f"{factory or '_make_helper_hook'}.<locals>.hook"))
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A folder of its own for the two files: findings in a folder of tests are notes."""
    folder = tmp_path_factory.mktemp("source")
    for name in FILES:
        shutil.copy(HERE / name, folder / name)
    return folder


def rows(findings):
    return [(pathlib.Path(f["filename"]).name, f["location"]["row"], f["code"], f["hook"]) for f in findings]


def test_there_are_forms():
    assert len(expected()) == 9


def test_lint_predicts_each(lint, source):
    found = sorted((pathlib.Path(f["filename"]).name, f["location"]["row"], f["code"]) for f in lint(source))
    assert found == sorted(row[:3] for row in expected())


@pytest.mark.parametrize("mode", ["two-threads", "one-thread"])
def test_run_sees_each(simulate, report, source, tmp_path, mode):
    done = simulate(tmp_path / "out", source / "forms.py", mode)
    answer = report(tmp_path / "out", "--lint", source)
    blamed = [f for f in answer["findings"] if f["severity"] != "note"]
    assert sorted(rows(blamed)) == sorted(expected()), done.stderr
    for f in blamed:
        assert f["predicted"] and f["seen"], f
        assert f["count"] == FORMS_PER_STEP * STEPS, f
    assert answer["coverage"]["status"] == "full", answer["coverage"]
