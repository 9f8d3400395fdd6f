"""make install puts a tree that works where it lies, and make uninstall takes all of it away."""

import os
import subprocess

import pytest


@pytest.fixture
def make(root, build, tmp_path):
    """make(TARGET): runs it for this build into tmp_path/usr."""

    def run(target):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        command = ["make", target, f"B={build}", f"DESTDIR={tmp_path}", "PREFIX=/usr"]
        done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return run


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_installed_tree_runs(make, torch_python, tmp_path):
    make("install")
    installed = tmp_path / "usr/bin/hookwatch"
    assert subprocess.run([installed, "--version"], capture_output=True).returncode == 0
    program = "import torch; print(torch.ones(2, device='cuda').sum().item())"
    command = [installed, "run", "--simulate", "-o", tmp_path / "out", "--", torch_python, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "2.0\n"), done.stderr
    package = tmp_path / "usr/lib/hookwatch/python"
    program = "import hookwatch; hookwatch.step()"
    assert subprocess.run([torch_python, "-c", program], env={**os.environ, "PYTHONPATH": str(package)}).returncode == 0
    report = subprocess.run([installed, "report", tmp_path / "out"], capture_output=True, text=True)
    assert report.returncode == 0, report.stderr


def test_uninstall(make, tmp_path):
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/other").touch()
    make("install")
    assert len(files(tmp_path)) > 10
    make("uninstall")
    assert files(tmp_path) == ["usr/bin/other"]
