"""The command table: help, version, unknown commands."""

import subprocess

import pytest


def run(hookwatch, *args):
    return subprocess.run([hookwatch, *args], capture_output=True, text=True, timeout=20)


def test_help_and_version(hookwatch, root):
    for flag in ("--help", "-h", "help"):
        result = run(hookwatch, flag)
        assert result.returncode == 0 and not result.stderr
        assert all(f"\n  {name}" in result.stdout for name in ("lint", "run", "report"))
    version = run(hookwatch, "--version")
    assert version.returncode == 0
    first, second = version.stdout.splitlines()
    assert first == f"hookwatch {(root / 'VERSION').read_text().strip()}"
    pins = (root / "third_party" / "sources.txt").read_text()
    for name in ("tree-sitter", "tree-sitter-python"):
        assert f"{name} {pins.split(f'{chr(10)}{name}==')[1].split()[0]}" in second
    bare = run(hookwatch)
    assert bare.returncode == 2 and not bare.stdout and "usage:" in bare.stderr


@pytest.mark.parametrize("typed, meant", [("lnit", "lint"), ("rnu", "run"), ("reprot", "report"), ("Lint", "lint")])
def test_unknown_command_suggests_the_nearest(hookwatch, typed, meant):
    result = run(hookwatch, typed)
    assert result.returncode == 2 and not result.stdout
    assert result.stderr == f"hookwatch: no command `{typed}`; did you mean `{meant}`?\n"


@pytest.mark.parametrize("typed", ["frobnicate", "", "x" * 5000])
def test_unknown_command_far_from_any(hookwatch, typed):
    result = run(hookwatch, typed)
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and "--help" in result.stderr


def test_lint_help_names_every_format(hookwatch):
    result = run(hookwatch, "lint", "--help")
    assert result.returncode == 0
    assert "text (default), concise, json, json-lines, github, gitlab, sarif, junit" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 120
