"""The example of the README: the good monitor makes no finding and one copy a step, the bad one's findings all join."""

import pytest

STEPS = 4


def test_good_monitor(simulate, report, root, tmp_path):
    done = simulate(tmp_path / "out", root / "examples/train.py", "--monitor", "good", "--steps", STEPS)
    assert f"step {STEPS - 1}: loss" in done.stdout
    answer = report(tmp_path / "out", "--lint", root / "examples/good_monitor.py")
    assert [f for f in answer["findings"] if f["severity"] != "note"] == []
    assert answer["totals"]["in_hook"]["waits"] == 0
    assert answer["totals"]["launches"] > 0
    assert answer["totals"]["in_flush"]["d2h_copies"] == STEPS
    assert answer["totals"]["steps"] == STEPS


@pytest.mark.parametrize("monitor", ["bad", "both"])
def test_bad_monitor_joins(simulate, report, root, tmp_path, monitor):
    simulate(tmp_path / "out", root / "examples/train.py", "--monitor", monitor, "--steps", STEPS)
    answer = report(tmp_path / "out", "--lint", root / "examples")
    blamed = [f for f in answer["findings"] if f["severity"] != "note"]
    assert {f["code"] for f in blamed} == {"HW101", "HW102", "HW103", "HW105", "HW107", "HW201"}
    assert all(f["predicted"] and f["seen"] for f in blamed)
    assert {f["filename"].rsplit("/", 1)[1] for f in blamed} == {"bad_monitor.py", "bad_metrics.py"}
    # three layers, each visited once a step
    assert {f["count"] for f in blamed} == {3 * STEPS}


def test_monitors_do_not_change_training(simulate, root, tmp_path):
    losses = [
        [line.split(",")[0] for line in simulate(tmp_path / name, root / "examples/train.py", "--monitor", name).stdout.splitlines()]
        for name in ("none", "good", "bad")
    ]
    assert losses[0] and losses[0] == losses[1] == losses[2]
