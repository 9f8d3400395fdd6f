"""The simulated NCCL between processes: values, asynchrony, and ranks that never come."""

import pathlib

import pytest

from sim_environment import run


def torchrun(build, python, root, world, *arguments, **options):
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={world}"]
    return run(build, python, *launcher, root / "tests/e2e/sim_ranks.py", *arguments, devices=world, **options)


def segments():
    return {p.name for p in pathlib.Path("/dev/shm").glob("hookwatch-*")}


@pytest.mark.parametrize("world", [2, 3])
def test_values(build, torch_python, root, world):
    before = segments()
    done = torchrun(build, torch_python, root, world, "values")
    assert sorted(done.stdout.split("\n"))[1:] == [f"rank {r} values" for r in range(world)]
    assert "no value" not in done.stderr and not segments() - before


def test_opposite_order(build, torch_python, root):
    assert torchrun(build, torch_python, root, 2, "opposite").stdout.count("opposite") == 2


def test_waits_wait(build, torch_python, root, tmp_path):
    assert torchrun(build, torch_python, root, 2, "unfinished", tmp_path / "asked").stdout.count("unfinished") == 2


def test_a_missing_rank_is_named(build, torch_python, root):
    before = segments()
    done = torchrun(build, torch_python, root, 2, "missing", status=None, stuck="0.5")
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if "STUCK" in line]
    assert "rank 0 of 2" in line and "(all_reduce)" in line and line.endswith("waits for rank 1")
    assert "Watchdog caught collective operation timeout" in done.stderr and not segments() - before
