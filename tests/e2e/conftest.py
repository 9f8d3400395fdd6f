"""Real PyTorch on the simulated stack: how a script is run under hookwatch and its report read."""

import json
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def simulate(hookwatch, torch_python):
    """simulate(out, ARGUMENT...): runs python ARGUMENT... under `hookwatch run --simulate -o out`; the finished process."""

    def run(out, *arguments, status=0, env=None, cwd=None):
        done = subprocess.run(
            [hookwatch, "run", "--simulate", "-o", str(out), "--", torch_python, *map(str, arguments)],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
            cwd=cwd,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def report(hookwatch):
    """report(out, ARGUMENT...): `hookwatch report out` as JSON; findings are status 1, none is 0."""

    def run(out, *arguments):
        done = subprocess.run(
            [hookwatch, "report", str(out), *map(str, arguments), "--output-format", "json"], capture_output=True, text=True
        )
        assert done.returncode in (0, 1), done.stderr
        answer = json.loads(done.stdout)
        assert done.returncode == (1 if any(f["severity"] != "note" for f in answer["findings"]) else 0)
        return answer

    return run


@pytest.fixture(scope="session")
def lint(hookwatch):
    """lint(PATH...): the findings of `hookwatch lint` as JSON."""

    def run(*paths):
        done = subprocess.run(
            [hookwatch, "lint", "--output-format", "json", *map(str, paths)], capture_output=True, text=True
        )
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    return run
