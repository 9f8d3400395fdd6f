"""Training on the simulated devices against the same training on the CPU, alone and in parallel."""

import json
import os

import pytest

from sim_environment import run

# HOOKWATCH_TEST_ALL=1 runs every case, with the CPU's run beside it instead of the losses recorded from one.
ALL = os.environ.get("HOOKWATCH_TEST_ALL") == "1"


@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_20_steps_of_adamw(build, torch_python, root, model):
    """Every parameter bit for bit: the kernels are the CPU's."""
    done = run(build, torch_python, root / "tests/e2e/sim_training.py", "cuda", model)
    result = json.loads(done.stdout)
    assert (result["equal"], result["apart"]) == (result["parameters"], 0.0)
    assert len(set(result["losses"])) == 20 and "no value" not in done.stderr


def losses(build, python, script, world, place, arguments):
    """The losses rank 0 prints. The CPU's run, over gloo, has the same libraries loaded, because PyTorch does not start without,
    but no value mode."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={world}"]
    done = run(build, python, *launcher, script, place, *arguments, devices=world, values=place == "cuda")
    assert "no value" not in done.stderr and "STUCK" not in done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("{"))
    return json.loads(line)["losses"]


# Data parallelism of PyTorch; or of Megatron: tensor, pipeline, chunks, experts.
CASES = [(2, "ddp"), (2, "fsdp"), (2, "1 2 2 0")] + ([(2, "2 1 1 0"), (2, "1 1 1 2"), (4, "2 2 2 0")] if ALL else [])


@pytest.mark.parametrize("world, case", CASES)
def test_parallel(build, torch_python, root, world, case):
    """cpu_losses.json holds what the same model, schedule and communication gave on CPUs over gloo."""
    script = root / ("tests/e2e/sim_training.py" if case.isalpha() else "tests/e2e/sim_megatron.py")
    host = json.loads((root / "tests/e2e/data/cpu_losses.json").read_text())[case]
    if ALL:
        host = losses(build, torch_python, script, world, "cpu", case.split())
    device = losses(build, torch_python, script, world, "cuda", case.split())
    assert len(device) == len(host) and len(set(host)) == len(host)
    assert max(abs(d - h) for d, h in zip(device, host)) <= 1e-5, (device, host)
