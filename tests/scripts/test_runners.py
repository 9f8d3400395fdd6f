"""tests/unit/run and tests/traps/run: closing lines and statuses, so that a failing program cannot pass unseen."""

import os
import subprocess

import pytest


@pytest.fixture
def script(tmp_path):
    """Makes a program that prints `text` and ends with `status`; returns its path."""

    def make(name, status, text=""):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\nprintf '%s\\n' '{text}'\nexit {status}\n")
        path.chmod(0o755)
        return path

    return make


def run(runner, *programs):
    done = subprocess.run([runner, *programs], capture_output=True, text=True, env={**os.environ, "V": ""})
    return done.returncode, done.stdout


CMOCKA = "[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n"


def test_unit_counts(root, script):
    good = script("good", 0, CMOCKA + "[       OK ] b")
    assert run(root / "tests/unit/run", good) == (0, "good: 2 passed\nunit: 1 programs (0 failed), 2 passed, 0 failed\n")


@pytest.mark.parametrize("status, text", [(1, CMOCKA), (0, "no test ran"), (139, "")])
def test_unit_fails(root, script, status, text):
    done, output = run(root / "tests/unit/run", script("good", 0, CMOCKA), script("bad", status, text))
    assert done == 1
    assert f"bad: FAILED, status {status}" in output
    assert "2 programs (1 failed)" in output


def test_unit_without_programs_fails(root):
    assert run(root / "tests/unit/run")[0] == 1


def test_traps_count(root, script):
    status, output = run(root / "tests/traps/run", script("one", 0), script("two", 77, "needs a GPU"))
    assert status == 0
    assert output == "skip  two: needs a GPU\ntraps: 1 passed, 0 failed, 1 skipped\n"


@pytest.mark.parametrize("status", [1, 2, 134])
def test_traps_fail(root, script, status):
    done, output = run(root / "tests/traps/run", script("one", 0), script("two", status, "expected 3, got 4"))
    assert done == 1
    assert output == f"expected 3, got 4\nFAIL  two, status {status}\ntraps: 1 passed, 1 failed, 0 skipped\n"


def test_traps_all_skipped_fails(root, script):
    assert run(root / "tests/traps/run", script("one", 77, "why"))[0] == 1
