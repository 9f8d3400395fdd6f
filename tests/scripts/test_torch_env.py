"""scripts/torch-env with a stand-in for Python, which notes each call of pip: made once, by one of several, whole or not at all."""

import os
import subprocess

import pytest

PYTHON = """#!/bin/sh
# Answers the questions torch-env asks a Python; `-m venv` copies itself, `-m pip` notes its verb and fails while $PIP_FAILS is a file.
case "$1 $2" in
  "-c "*) echo 3.11 ;;
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  "-m pip")
    for word; do case $word in download|install) echo "$word" >>"$PIP_LOG" ;; esac; done
    [ ! -e "$PIP_FAILS" ] ;;
esac
"""


class Env:
    def __init__(self, root, folder):
        self.script = root / "scripts/torch-env"
        self.folder = folder
        self.log = folder / "log"
        self.log.touch()
        self.failing = folder / "failing"
        python = folder / "python"
        python.write_text(PYTHON)
        python.chmod(0o755)
        self.env = {
            **os.environ,
            "HOOKWATCH_CACHE": str(folder / "cache"),
            "HOOKWATCH_PYTHON": str(python),
            "PIP_LOG": str(self.log),
            "PIP_FAILS": str(self.failing),
        }

    def start(self, **env):
        return subprocess.Popen(
            [self.script], env={**self.env, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, **env):
        started = self.start(**env)
        out, err = started.communicate()
        return started.returncode, out, err

    def pip_calls(self):
        return self.log.read_text().split()


@pytest.fixture
def torch_env(root, tmp_path):
    return Env(root, tmp_path)


def test_made_once(torch_env):
    status, path, text = torch_env.run()
    assert status == 0
    assert path.startswith(str(torch_env.folder / "cache/torch-3.11-")) and path.endswith("/bin/python\n")
    assert os.access(path.strip(), os.X_OK)
    assert "to download" in text
    calls = torch_env.pip_calls()
    assert calls[-1] == "install"
    assert torch_env.run() == (0, path, "")
    assert torch_env.pip_calls() == calls


def test_runs_beside_each_other_make_one(torch_env):
    started = [torch_env.start() for _ in range(4)]
    answers = {process.communicate()[0] for process in started}
    assert [process.returncode for process in started] == [0] * 4
    assert len(answers) == 1
    assert torch_env.pip_calls().count("install") == 1


def test_what_failed_is_made_again(torch_env):
    torch_env.failing.touch()
    status, path, _ = torch_env.run()
    assert status != 0 and path == ""
    torch_env.failing.unlink()
    status, path, _ = torch_env.run()
    assert status == 0 and os.access(path.strip(), os.X_OK)


def test_half_made_environment_is_not_used(torch_env):
    _, path, _ = torch_env.run()
    folder = os.path.dirname(os.path.dirname(path.strip()))
    os.unlink(os.path.join(folder, ".complete"))
    calls = len(torch_env.pip_calls())
    assert torch_env.run()[:2] == (0, path)
    assert len(torch_env.pip_calls()) > calls


@pytest.mark.parametrize("name, value, text", [("HOOKWATCH_CACHE", "/proc/none", "set HOOKWATCH_CACHE"), ("HOOKWATCH_PYTHON", "no-python", "no-python")])
def test_bad_settings(torch_env, name, value, text):
    status, path, error = torch_env.run(**{name: value})
    assert (status, path) == (2, "")
    assert text in error
