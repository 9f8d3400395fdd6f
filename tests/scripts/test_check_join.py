"""scripts/check-join: what the demo fails on."""

import json
import subprocess

import pytest


def row(filename, code="HW101", predicted=True, seen=True):
    return {"code": code, "filename": str(filename), "location": {"row": 7}, "predicted": predicted, "seen": seen}


@pytest.fixture
def join(root, tmp_path):
    """Runs the check over a report with these findings, for the file a.py."""

    def run(findings, codes="HW101", status="full"):
        report = tmp_path / "report.json"
        report.write_text(json.dumps({"findings": findings, "coverage": {"status": status, "notes": ["n"]}}))
        done = subprocess.run(
            [root / "scripts/check-join", report, "--codes", codes, tmp_path / "a.py"], capture_output=True, text=True
        )
        return done.returncode, done.stderr

    return run


def test_complete_join_passes(join, tmp_path):
    assert join([row(tmp_path / "a.py"), row(tmp_path / "a.py", "HW105")]) == (0, "")


@pytest.mark.parametrize("half, message", [({"seen": False}, "not seen"), ({"predicted": False}, "not predicted")])
def test_half_a_join_fails(join, tmp_path, half, message):
    status, text = join([row(tmp_path / "a.py"), row(tmp_path / "a.py", "HW103", **half)])
    assert status == 1
    assert f"a.py:7: HW103 {'predicted, ' if 'seen' in half else 'seen, '}{message}" in text


def test_rules_of_one_side_and_other_files_do_not_count(join, tmp_path):
    lint_only = row(tmp_path / "a.py", "HW304", seen=False)
    elsewhere = row(tmp_path / "b.py", seen=False)
    assert join([row(tmp_path / "a.py"), lint_only, elsewhere]) == (0, "")


def test_a_code_that_never_joined_fails(join, tmp_path):
    status, text = join([row(tmp_path / "a.py")], codes="HW101,HW201")
    assert status == 1 and "HW201: no finding" in text


def test_unknown_coverage_fails(join, tmp_path):
    status, text = join([row(tmp_path / "a.py")], status="unknown")
    assert status == 1 and "coverage is unknown" in text
