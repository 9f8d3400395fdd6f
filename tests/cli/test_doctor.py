"""hookwatch doctor: what is there, what is missing by name, and what it says of things that are none."""

import os
import subprocess

import pytest


@pytest.fixture
def doctor(hookwatch):
    def run(*arguments):
        return subprocess.run([hookwatch, "doctor", *map(str, arguments)], capture_output=True, text=True)

    return run


@pytest.fixture
def fake_python(tmp_path):
    """A `python` whose torch is a folder of ours, with one library built from C text."""

    def make(source, *link):
        lib = tmp_path / "torch" / "lib"
        lib.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t.c").write_text(source)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", lib / "libtorch_cuda.so", tmp_path / "t.c", *link], check=True)
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\nprintf '3.11.2\\nCPython\\n{tmp_path}/torch\\n2.99\\n'\n")
        python.chmod(0o755)
        return python

    return make


def test_the_real_wheel_finds_everything(doctor, torch_python):
    done = doctor("--simulate", "--python", torch_python)
    assert done.returncode == 0, done.stdout
    assert "each of the " in done.stdout and "FAIL" not in done.stdout


def test_a_missing_symbol_is_named(doctor, fake_python):
    python = fake_python("int cudaNoSuchThing(void); int cudaMalloc(void); int f(void) { return cudaNoSuchThing() + cudaMalloc(); }")
    done = doctor("--simulate", "--python", python)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith("FAIL")] == [
        "FAIL  simulated stack  cudaNoSuchThing: torch asks for it, it is not there"
    ]


def test_a_missing_library_is_named(doctor, fake_python, tmp_path):
    (tmp_path / "e.c").write_text("int cudaMalloc(void) { return 0; }")
    subprocess.run(["gcc", "-shared", "-Wl,-soname,libcunew.so.1", "-o", tmp_path / "libcunew.so.1", tmp_path / "e.c"], check=True)
    python = fake_python("int cudaMalloc(void); int f(void) { return cudaMalloc(); }", tmp_path / "libcunew.so.1")
    done = doctor("--simulate", "--python", python)
    assert done.returncode == 1 and "libcunew.so.1: no such library is simulated" in done.stdout


def test_damaged_objects_are_left_out(doctor, fake_python, tmp_path, build):
    python = fake_python("int cudaMalloc(void); int f(void) { return cudaMalloc(); }")
    good = (tmp_path / "torch/lib/libtorch_cuda.so").read_bytes()
    for n, bad in enumerate([b"", b"\x7fELF", good[:100], good[: len(good) // 2], bytes(b ^ 0x5A if i > 60 else b for i, b in enumerate(good))]):
        (tmp_path / f"torch/lib/lib{n}.so").write_bytes(bad)
    for i in range(40, len(good), 97):  # one wrong byte each
        (tmp_path / "torch/lib/libz.so").write_bytes(good[:i] + bytes([good[i] ^ 0xFF]) + good[i + 1 :])
        assert doctor("--simulate", "--python", python).returncode in (0, 1)


def test_a_python_that_cannot_be_run(doctor, tmp_path):
    done = doctor("--python", tmp_path / "none")
    assert done.returncode == 1 and "cannot be run" in done.stdout


def test_other_versions_are_said(doctor, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nprintf '3.14.0\\nCPython\\n\\n\\n'\n")
    python.chmod(0o755)
    done = doctor("--python", python)
    assert done.returncode == 1 and "frames can be read on 3.11, 3.12 and 3.13" in done.stdout


def test_full_output_is_an_error(hookwatch):
    with open("/dev/full", "w") as full:
        assert subprocess.run([hookwatch, "doctor"], stdout=full, stderr=subprocess.DEVNULL, env={**os.environ}).returncode == 2
