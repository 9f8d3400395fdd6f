"""Several ranks: NCCL moves data between the processes, one trace a rank, one merged report."""

import re

import pytest


@pytest.mark.parametrize("world", [2])
def test_torchrun(simulate, report, root, tmp_path, world):
    script = root / "tests/e2e/ranks.py"
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={world}"]
    done = simulate(tmp_path / "out", *launcher, script, env={"HOOKWATCH_SIM_DEVICES": str(world)})
    # ranks share the pipe: a line may hold two of these
    assert sorted(re.findall(rf"rank (\d+) of {world}: ok", done.stdout)) == [str(r) for r in range(world)]

    answer = report(tmp_path / "out")
    assert sorted(p["rank"] for p in answer["processes"]) == list(range(world))
    assert {p["world"] for p in answer["processes"]} == {world}
    blamed = [f for f in answer["findings"] if f["severity"] != "note"]
    assert [(f["code"], f["hook"], sorted(f["ranks"])) for f in blamed] == [
        ("HW201", "_make_mean_hook.<locals>.hook", list(range(world)))
    ]
    assert blamed[0]["count"] == 2 * world
    assert answer["totals"]["in_hook"]["collectives"] == 2 * world
    # all_reduce, broadcast, barrier, and a broadcast for each part of all_gather, at least
    assert answer["totals"]["outside"]["collectives"] >= 3 * world + world * world
