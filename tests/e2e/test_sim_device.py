"""The simulated device: memory, streams, capture, twins, settings, and that other programs do not notice it."""

import os
import subprocess

import pytest

from sim_environment import environment, run


def test_device(build, torch_python, root):
    done = run(build, torch_python, root / "tests/e2e/sim_device.py", devices=2, memory="4GiB")
    checks = "memory reuse out_of_memory queries capture properties devices fork workers"
    assert done.stdout.split() == checks.split()


@pytest.mark.parametrize(
    "setting, value, want",
    [("devices", "many", "0 to 64"), ("memory", "80 gigabytes", "a size from 1MiB to 1TiB"), ("stuck", "-1", "seconds")],
)
def test_a_bad_setting_is_said(build, setting, value, want):
    done = subprocess.run(["/bin/true"], env=environment(build, **{setting: value}), capture_output=True, text=True)
    line = f"hookwatch: simulate: HOOKWATCH_SIM_{setting.upper()}={value}: want {want}; using the default\n"
    assert (done.returncode, done.stderr) == (0, line)


def test_other_programs_do_not_notice(build, tmp_path):
    command = ["sh", "-c", "echo out; ls / | head -1; exit 3"]
    plain = subprocess.run(command, capture_output=True)
    trace = tmp_path / "trace"
    simulated = subprocess.run(command, capture_output=True, env=environment(build, trace=trace))
    assert (simulated.returncode, simulated.stdout, simulated.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert not trace.exists()


@pytest.fixture(scope="module")
def own_kernel(build, root, tmp_path_factory):
    program = tmp_path_factory.mktemp("kernel") / "own_kernel"
    command = [os.environ.get("CC", "gcc"), "-I", root, "-o", program, root / "tests/e2e/sim_kernel.c"]
    subprocess.run([*command, build / "lib/sim/libcudart.so.13", f"-Wl,-rpath,{build}/lib/sim"], check=True)
    return program


@pytest.mark.parametrize(
    "twin, expected",
    [
        ("", ["1 2 3 4 5 6"]),
        ("scale", ["simulated 1", "_ZN3own5scaleEPff <<<2, 3, 16>>>", "10 20 30 40 50 60"]),
        ("_ZN3own5scaleEPff", ["simulated 1", "_ZN3own5scaleEPff <<<2, 3, 16>>>", "10 20 30 40 50 60"]),
        ("cale", ["simulated 1", "1 2 3 4 5 6"]),
    ],
)
def test_twins(own_kernel, build, tmp_path, twin, expected):
    trace = tmp_path / "trace.%p"
    done = subprocess.run([own_kernel, twin], env=environment(build, trace=trace), capture_output=True, text=True)
    assert done.stdout.splitlines() == expected
    (written,) = tmp_path.iterdir()
    assert written.name != "trace.%p"
    assert written.read_text().splitlines() == [
        "cudaMalloc 24",
        "cudaMemcpy H2D 24 pageable",
        "cudaLaunchKernel _ZN3own5scaleEPff",
        "cudaMemcpy D2H 24 pageable",
    ]
