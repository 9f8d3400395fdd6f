"""Programs that a job starts: the same output and status with the shim in their environment, and no trace of theirs."""

import os
import subprocess

import pytest

COMMANDS = "ls /; gcc --version; git --version; exit 3"


def outcome(command, **env):
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, "LD_BIND_NOW": "1", **env}
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def plain():
    return outcome(["sh", "-c", COMMANDS])


def traces(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_under_run(hookwatch, tmp_path, plain):
    assert outcome([hookwatch, "run", "-o", tmp_path / "out", "--", "sh", "-c", COMMANDS]) == plain
    assert traces(tmp_path) == []


def test_under_bare_preload(build, tmp_path, plain):
    shim = str(build / "lib/libhookwatch.so")
    assert outcome(["sh", "-c", COMMANDS], LD_PRELOAD=shim, HOOKWATCH_DIR=str(tmp_path / "out")) == plain
    assert traces(tmp_path) == []


def test_under_the_simulated_stack(hookwatch, tmp_path, plain):
    assert outcome([hookwatch, "run", "--simulate", "-o", tmp_path / "out", "--", "sh", "-c", COMMANDS]) == plain
    assert traces(tmp_path) == []


def test_a_preload_of_the_user_stays_first(hookwatch, build, tmp_path):
    mine = build / "lib/sim/libnvrtc.so.13"  # any library
    command = [hookwatch, "run", "-o", tmp_path / "out", "--", "sh", "-c", "echo $LD_PRELOAD"]
    # A build with sanitizers wants to be loaded first itself.
    _, text, _ = outcome(command, LD_PRELOAD=str(mine), ASAN_OPTIONS="verify_asan_link_order=0")
    assert text.split(":")[0] == str(mine)
    assert text.strip().split(":")[1].endswith("/libhookwatch.so")
