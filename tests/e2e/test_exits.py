"""However the process ends, what happened before is in the report."""

import signal

import pytest


@pytest.mark.parametrize("how, status, ended", [("kill", -signal.SIGKILL, "unknown"), ("abort", -signal.SIGABRT, None), ("_exit", 0, None)])
def test_end_in_a_hook(simulate, report, root, tmp_path, how, status, ended):
    simulate(tmp_path / "out", root / "tests/e2e/exits.py", how, status=status)
    answer = report(tmp_path / "out")
    [found] = [f for f in answer["findings"] if f["code"] == "HW101"]
    assert (found["hook"], found["location"]["row"], found["count"]) == ("_make_peak_hook.<locals>.hook", 19, 3)
    if ended:
        assert answer["processes"][0]["ended"] == ended
