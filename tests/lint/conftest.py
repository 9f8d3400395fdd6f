"""Helpers of the linter's tests: a project made of a few texts, linted."""

import json
import pathlib
import subprocess
import textwrap

import pytest


class Project:
    """A folder of files that hookwatch can be run in."""

    def __init__(self, root, hookwatch):
        self.root, self.hookwatch = root, hookwatch

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(textwrap.dedent(text), encoding="utf-8", newline="")
        return path

    def run(self, *args, **kwargs):
        kwargs.setdefault("text", True)
        return subprocess.run([self.hookwatch, "lint", *args], cwd=self.root, capture_output=True, timeout=60, **kwargs)

    def lint(self, *args):
        """The findings, as JSON."""
        run = self.run("--output-format", "json", *(args or ["."]))
        assert run.returncode in (0, 1), run.stderr
        return json.loads(run.stdout)

    def lines(self, *args):
        """The findings as sorted (file, row, code)."""
        root = self.root.resolve()
        return sorted((pathlib.Path(f["filename"]).relative_to(root).as_posix(), f["location"]["row"], f["code"]) for f in self.lint(*args))


@pytest.fixture
def project(tmp_path, hookwatch):
    # The folder's own path must not make its files look like tests: the marker is its root.
    (tmp_path / "hookwatch.toml").write_text("")
    return Project(tmp_path, hookwatch)
