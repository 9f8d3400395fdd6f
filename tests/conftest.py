"""Fixtures of all Python tests: where the built product is and which Python has torch."""

import os
import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def build():
    """The build directory: HOOKWATCH_BUILD, or build/ of the repository."""
    path = pathlib.Path(os.environ.get("HOOKWATCH_BUILD", ROOT / "build"))
    if not (path / "bin" / "hookwatch").exists():
        pytest.fail(f"{path}/bin/hookwatch does not exist: run make first")
    return path


@pytest.fixture(scope="session")
def hookwatch(build):
    """Path of the hookwatch command under test."""
    return str(build / "bin" / "hookwatch")


@pytest.fixture(scope="session")
def torch_python():
    """A Python that can import torch: HOOKWATCH_TORCH_PYTHON, or the one that runs the tests."""
    python = os.environ.get("HOOKWATCH_TORCH_PYTHON", sys.executable)
    if not shutil.which(python):
        pytest.fail(f"HOOKWATCH_TORCH_PYTHON names {python}, which cannot be run")
    return python


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    """No setting of the caller's shell reaches a test."""
    kept = {"HOOKWATCH_BUILD", "HOOKWATCH_TORCH_PYTHON", "HOOKWATCH_CACHE", "HOOKWATCH_PYTHONS"}
    for name in list(os.environ):
        if name in ("LD_PRELOAD", "HOOKWATCH") or (name.startswith("HOOKWATCH_") and name not in kept):
            monkeypatch.delenv(name)
