"""`pytest --hookwatch` on real PyTorch: counts per block, the table of a failing one, and what happens without the option."""

import os
import subprocess

import pytest

SAMPLE = '''
import pytest
import torch


@pytest.fixture
def x():
    return torch.arange(8.0, device="cuda")


def test_silent(hookwatch, x):
    with hookwatch.expect(waits=0, collectives=0, launches=2):
        y = (x * 2).sum()
    assert y.item() == 56


def test_one_wait(hookwatch, x):
    with hookwatch.expect(waits=1, d2h_copies=1):
        assert x.sum().item() == 28


def test_two_blocks_are_apart(hookwatch, x):
    with hookwatch.expect(waits=1):
        x.cpu()
    with hookwatch.expect(waits=0):
        x + 1


def test_too_many(hookwatch, x):
    with hookwatch.expect(waits=1):
        if x.max() > 3:
            x.cpu()


def test_backward_hooks_count_and_are_named(hookwatch, x):
    x.requires_grad_()
    x.register_hook(lambda grad: None if grad.sum().item() else None)
    with hookwatch.expect(waits=0):
        x.sum().backward()


def test_unknown_count(hookwatch):
    with hookwatch.expect(wait=0):
        pass
'''


@pytest.fixture
def run(hookwatch, root, torch_python, tmp_path):
    def call(*options, sample=SAMPLE):
        (tmp_path / "test_sample.py").write_text(sample)
        env = {**os.environ, "HOOKWATCH_PROGRAM": hookwatch, "PYTHONPATH": str(root / "monitor/python"), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [torch_python, "-m", "pytest", "-p", "hookwatch.pytest_plugin", "-p", "no:cacheprovider", "-q", *options, "test_sample.py"],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    return call


def test_counts_and_the_table_of_a_failing_block(run, tmp_path):
    done = run("--hookwatch", "--hookwatch-output", str(tmp_path / "out"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "3 failed, 3 passed" in done.stdout
    hook = 1 + SAMPLE.splitlines().index("    x.register_hook(lambda grad: None if grad.sum().item() else None)")
    assert f"test_sample.py:{hook}, hook test_backward_hooks_count_and_are_named.<locals>.<lambda>" in done.stdout
    assert "HW108" not in done.stdout
    branch = 1 + SAMPLE.splitlines().index("        if x.max() > 3:")
    assert "test_too_many block 1: expected waits=1, counted waits=2" in done.stdout
    assert f"test_sample.py:{branch}" in done.stdout and f"test_sample.py:{branch + 1}" in done.stdout
    assert "HW103" in done.stdout and "HW102" in done.stdout
    assert "expect() wants one or more of waits" in done.stdout
    assert list((tmp_path / "out").glob("*.hwt"))


def test_without_the_option_the_fixture_skips(run):
    done = run("-rs", sample="def test_block(hookwatch):\n    assert False\n")
    assert "needs pytest --hookwatch" in done.stdout
    assert not any(word in done.stdout for word in ("passed", "failed"))
