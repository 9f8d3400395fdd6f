"""scripts/bootstrap: quiet where nothing is missing, one clear line where it cannot install."""

import os
import subprocess

import pytest


@pytest.fixture
def path_with(tmp_path):
    """A PATH of links to these commands, so that everything else is missing."""

    def make(*commands):
        for command in commands:
            found = subprocess.run(["sh", "-c", f"command -v {command}"], capture_output=True, text=True).stdout.strip()
            if found:
                (tmp_path / command).symlink_to(os.path.realpath(found))
        return str(tmp_path)

    return make


def test_nothing_missing_says_nothing(root):
    done = subprocess.run([root / "scripts/bootstrap"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_a_package_manager(root, path_with):
    path = path_with("bash", "env", "id")
    done = subprocess.run(["bash", root / "scripts/bootstrap"], capture_output=True, text=True, env={"PATH": path})
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "gcc" in done.stderr and "libcmocka-dev" in done.stderr and "package manager" in done.stderr


def test_without_root(root, path_with):
    path = path_with("bash", "env")
    for name, text in (("id", "echo 1000"), ("apt-get", "exit 1")):
        tool = os.path.join(path, name)
        with open(tool, "w", encoding="utf-8") as stream:
            stream.write(f"#!/bin/sh\n{text}\n")
        os.chmod(tool, 0o755)
    done = subprocess.run(["bash", root / "scripts/bootstrap"], capture_output=True, text=True, env={"PATH": path})
    assert done.returncode == 2
    assert done.stderr.startswith("bootstrap: missing packages: run 'sudo apt-get install gcc ")
    assert done.stderr.count("\n") == 1
