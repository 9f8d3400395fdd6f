"""The simulated NCCL between processes: values, asynchrony, and ranks that never come."""

import pathlib
import re

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
    """Opposite order of communicators, work that is not ready, and at last a rank that never comes."""
    before = segments()
    done = torchrun(build, torch_python, root, 2, "asynchronous", tmp_path / "asked", stuck="1")
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 went on", "rank 1 went on"]
    stuck = [line for line in (tmp_path / "asked.said").read_text().splitlines() if "STUCK" in line]
    assert len(stuck) == 1 and "rank 0 of 2" in stuck[0] and "(all_reduce)" in stuck[0]
    assert stuck[0].endswith("waits for rank 1") and not segments() - before


def test_megatron_with_shared_experts(build, torch_python, root):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = run(build, torch_python, *launcher, root / "tests/e2e/megatron_moe.py", devices=2)
    losses = [float(loss) for loss in re.findall(r"loss (\d\.\d{3})", done.stdout)]  # the ranks' lines may mix
    assert len(losses) == 2 and all(3.5 < loss < 5 for loss in losses)  # near log(64), the vocabulary
    assert "no value" not in done.stderr
