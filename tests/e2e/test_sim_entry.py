"""Value mode is there however a Python program is started, and programs without torch are left alone."""

import subprocess

import pytest

from sim_environment import environment, run

PROGRAM = """
import torch
if __name__ == "__main__":
    print(torch.arange(4.0).cuda().add(1).sum().item())
"""
WORKERS = """
import multiprocessing, sys
def work(x):
    import torch
    return torch.full((4,), float(x)).cuda().sum().item()
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(work, [1, 2, 3]))
"""
CHILD = """
import os, subprocess, sys
done = subprocess.run([sys.executable, "-c", "import torch; print(torch.ones(3, device='cuda').sum().item())"],
                      env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")})
"""
# Programs that import torch by other ways than the statement.
IMPORTS = {
    "import_module": "import importlib; torch = importlib.import_module('torch')",
    "submodule": "from torch.nn import functional; import torch",
    "look_up": "import importlib.util; assert importlib.util.find_spec('torch'); import torch",
    "finder_in_front": """import sys
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None
sys.meta_path.insert(0, Finder)
import torch""",
}


def start(build, python, tmp_path, arguments, source=PROGRAM, input=None, env=None):
    (tmp_path / "program.py").write_text(source)
    done = subprocess.run(
        [python, *map(str, arguments)],
        capture_output=True,
        text=True,
        input=input or "",
        cwd=tmp_path,
        env={**environment(build), **(env or {})},
    )
    assert done.returncode == 0, done.stderr
    assert "hookwatch" not in done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["program.py"], ["-I", "program.py"], ["-E", "program.py"], ["-m", "program"], ["-c", PROGRAM], ["-I", "-c", PROGRAM], ["-"]],
    ids=lambda a: " ".join(a).splitlines()[0],
)
def test_starts(build, torch_python, tmp_path, arguments):
    assert start(build, torch_python, tmp_path, arguments, input=PROGRAM) == "10.0\n"


def test_without_site(build, torch_python, tmp_path):
    code = "import site; print(site.getsitepackages()[0])"
    packages = subprocess.run([torch_python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    source = f"import sys; sys.path.append({packages!r})\n{PROGRAM}"
    assert start(build, torch_python, tmp_path, ["-S", "program.py"], source) == "10.0\n"


@pytest.mark.parametrize("name", IMPORTS)
def test_imports(build, torch_python, tmp_path, name):
    source = f"{IMPORTS[name]}\nprint(torch.ones(3, device='cuda').sum().item())"
    assert start(build, torch_python, tmp_path, ["program.py"], source) == "3.0\n"


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_workers(build, torch_python, tmp_path, method):
    assert start(build, torch_python, tmp_path, ["program.py", method], WORKERS) == "[4.0, 8.0, 12.0]\n"


def test_subprocess_with_a_cleaned_environment(build, torch_python, tmp_path):
    assert start(build, torch_python, tmp_path, ["program.py"], CHILD) == "3.0\n"


def test_torchrun(build, torch_python, tmp_path):
    arguments = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1", "program.py"]
    assert start(build, torch_python, tmp_path, arguments) == "10.0\n"


@pytest.mark.parametrize("module", ["sitecustomize", "usercustomize"])
def test_the_users_own_start_files(build, torch_python, tmp_path, module):
    """They run, once, as the user's, and may import torch themselves."""
    (tmp_path / f"{module}.py").write_text("import builtins, torch; builtins.mine = getattr(builtins, 'mine', 0) + 5\n")
    env = {"PYTHONPATH": str(tmp_path)}
    # a virtual environment has no user site: its usercustomize is imported by hand, as site does
    source = f"import {module}, torch; print(mine, {module}.__file__, torch.ones(3, device='cuda').sum().item())"
    assert start(build, torch_python, tmp_path, ["program.py"], source, env=env) == f"5 {tmp_path}/{module}.py 3.0\n"


def test_a_program_without_torch_is_left_alone(build, torch_python):
    """One finder more, no module, no variable."""
    code = "import os, sys; print(sorted(sys.modules), sys.path, len(sys.meta_path), 'PYTHONPATH' in os.environ)"
    simulated = run(build, torch_python, "-c", code).stdout.split("] ")
    env = {k: v for k, v in environment(build).items() if k != "LD_PRELOAD"}
    plain = subprocess.run([torch_python, "-c", code], env=env, capture_output=True, text=True).stdout.split("] ")
    assert simulated[:2] == plain[:2] and plain[2].endswith("False\n")
    assert int(simulated[2].split()[0]) == int(plain[2].split()[0]) + 1


def test_a_torch_that_cannot_be_imported_fails_as_ever(build, torch_python, tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('no torch today')\n")
    done = run(build, torch_python, "-c", "import torch", status=1, env={"PYTHONPATH": str(tmp_path)})
    assert done.stderr.splitlines()[-1] == "ImportError: no torch today"


def test_sub_interpreters_are_left_alone(build, torch_python):
    code = """
import sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
one = interpreters.create()
interpreters.run_string(one, "import sys, json; print([f for f in sys.meta_path if 'Hookwatch' in getattr(f, '__name__', '')])")
interpreters.destroy(one)
print(len([f for f in sys.meta_path if "Hookwatch" in getattr(f, "__name__", "")]))
"""
    assert run(build, torch_python, "-c", code).stdout == "[]\n1\n"
