"""Value mode beside what programs do of their own: modes, subclasses, transforms, hooks, layouts, compiled regions."""

import subprocess

import pytest

from sim_environment import run


def test_it_stays_out_of_the_way(build, torch_python, root):
    done = run(build, torch_python, root / "tests/e2e/sim_user.py", devices=2)
    assert done.stdout == "ok\n" and "no value" not in done.stderr


def test_compiled_kernels_run_and_are_said_to_have_no_values(build, torch_python, root, tmp_path):
    if subprocess.run([torch_python, "-c", "import triton"], capture_output=True, check=False).returncode:
        pytest.skip("needs Triton (1 GB), which is no part of the tests' environment")
    caches = {"TRITON_CACHE_DIR": str(tmp_path / "triton"), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    done = run(build, torch_python, root / "tests/e2e/sim_user.py", "inductor", devices=2, env=caches)
    said = [line for line in done.stderr.splitlines() if "no value for" in line]
    assert done.stdout == "ok\n" and len(said) == len(set(said)) and sum("triton_" in line for line in said) == 4
