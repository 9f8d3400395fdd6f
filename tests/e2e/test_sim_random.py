"""Random programs on the simulated device against the CPU."""

from sim_environment import run


def test_fixed_seeds(build, torch_python, root):
    """By hand more: tests/e2e/sim_random.py FIRST COUNT under `hookwatch run --simulate`."""
    done = run(build, torch_python, root / "tests/e2e/sim_random.py", 0, 300)
    programs, results, equal, refused, wrong = (int(w) for w in done.stdout.split() if w.isdigit())
    assert (programs, wrong) == (300, 0) and results > 2500 and equal > 0.98 * results and refused < 50
