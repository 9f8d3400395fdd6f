"""The simulated NCCL between processes: values, asynchrony, and ranks that never come."""

import pathlib

from sim_environment import run


def torchrun(build, python, root, world, *arguments, **options):
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={world}"]
    return run(build, python, *launcher, root / "tests/e2e/sim_ranks.py", *arguments, devices=world, **options)


def segments():
    return {p.name for p in pathlib.Path("/dev/shm").glob("hookwatch-*")}


def test_values(build, torch_python, root):
    before = segments()
    done = torchrun(build, torch_python, root, 3, "values")
    assert sorted(done.stdout.split("\n"))[1:] == [f"rank {r} values" for r in range(3)]
    assert "no value" not in done.stderr and not segments() - before


def test_asynchrony(build, torch_python, root, tmp_path):
    done = torchrun(build, torch_python, root, 2, "asynchronous", tmp_path / "asked")
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 asynchronous", "rank 1 asynchronous"]


def test_a_missing_rank_is_named(build, torch_python, root, tmp_path):
    before, said = segments(), tmp_path / "said"
    done = torchrun(build, torch_python, root, 2, "missing", said, stuck="0.2")
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 missing", "rank 1 missing"]
    (line,) = [line for line in said.read_text().splitlines() if "STUCK" in line]
    assert "rank 0 of 2" in line and "(all_reduce)" in line and line.endswith("waits for rank 1")
    assert not segments() - before
