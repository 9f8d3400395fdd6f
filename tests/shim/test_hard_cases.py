"""Python that makes windows and sites hard to tell apart, on a small runtime, without a framework."""

import json
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
PRELUDE = f"""import sys
sys.path.insert(0, {str(HERE)!r})
import framework
framework.load(sys.argv[1])
t = framework.Tensor()
kept = []
"""


@pytest.fixture
def outcome(build, hookwatch, torch_python, tmp_path):
    """outcome(code, front=library): the report of a script, as JSON; `front` is preloaded before the shim."""

    def run(code, front=None, path=None):
        script = tmp_path / "script.py" if path is None else path
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(PRELUDE + code)
        preload = [str(build / "lib/libhookwatch.so")]
        if front:
            preload.insert(0, str(build / "tests/traps" / front))
        env = {
            **os.environ,
            "LD_PRELOAD": ":".join(preload),
            "HOOKWATCH_DIR": str(tmp_path / "out"),
            "HOOKWATCH_FRAMEWORK_PATHS": "*/shim/framework.py",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run([torch_python, script, build / "tests/traps/lib_user13.so"], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        done = subprocess.run([hookwatch, "report", tmp_path / "out", "--output-format", "json"], capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    return run


def test_many_files_with_the_same_lines(outcome, tmp_path):
    code = """
import importlib.util
for i in range(400):
    name = f"{FOLDER}/probe_{i}.py"
    with open(name, "w") as f:
        f.write("def _make_probe_hook(t):\\n    def hook():\\n        return t.item()\\n    return hook\\n")
    spec = importlib.util.spec_from_file_location(f"probe_{i}", name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kept.append(module._make_probe_hook(t))
for hook in kept[:]:
    hook()
""".replace("{FOLDER}", str(tmp_path))
    rows = outcome(code)["findings"]
    assert len({f["filename"] for f in rows}) == len(rows) == 400
    assert {f["count"] for f in rows} == {1}


def test_code_that_is_made_again_and_again(outcome):
    code = """
for i in range(200):
    source = f"def _make_cell_hook(t):\\n    def hook_{i}():\\n        return t.item()\\n    return hook_{i}\\n"
    space = {}
    exec(compile(source, f"<cell {i}>", "exec"), space)
    space["_make_cell_hook"](t)()
"""
    rows = outcome(code)["findings"]
    assert sorted((f["filename"], f["hook"], f["count"]) for f in rows) == sorted(
        (f"<cell {i}>", f"_make_cell_hook.<locals>.hook_{i}", 1) for i in range(200)
    )


def test_one_copy_in_each_flush_of_an_unchanging_caller(outcome):
    answer = outcome("""
class FlatMonitor:
    def step(self):
        kept.append(t.cpu())

class Trainer:
    def __init__(self):
        self.n, self.monitor = 0, FlatMonitor()

    def fit(self):
        while self.n < 50:
            self.n += 1
            self.monitor.step()

Trainer().fit()
""")
    assert answer["findings"] == [] and answer["totals"]["steps"] == 50


def test_three_copies_in_a_flush_that_assigns_a_global(outcome):
    answer = outcome("""
calls = 0

class CountingMonitor:
    def step(self):
        global calls
        for _ in range(1):
            calls += 1
        kept.append(t.cpu())
        calls += 1
        kept.append(t.cpu())
        calls += 1
        kept.append(t.cpu())

monitor = CountingMonitor()
for step in range(10):
    monitor.step()
""")
    assert answer["totals"]["steps"] == 10
    assert sorted((f["code"], f["count"]) for f in answer["findings"]) == [("HW501", 10), ("HW501", 10)]


def test_copies_in_a_helper_s_loop(outcome):
    answer = outcome("""
class ListMonitor:
    def step(self):
        kept.extend([t.cpu() for _ in range(4)])

monitor = ListMonitor()

def main():
    for step in range(5):
        monitor.step()

main()
""")
    assert answer["totals"]["steps"] == 5
    assert [(f["code"], f["count"]) for f in answer["findings"]] == [("HW501", 15)]


def test_a_first_argument_that_a_closure_keeps(outcome):
    answer = outcome("""
class CellMonitor:
    def step(self):
        kept.append(t.cpu())
        return [self for _ in range(1)]

monitor = CellMonitor()
for step in range(30):
    monitor.step()
""")
    assert answer["totals"]["steps"] == 30 and answer["findings"] == []


def test_a_kernel_that_refuses_to_read_memory(outcome):
    answer = outcome("""
def _make_probe_hook():
    return lambda: t.item()
_make_probe_hook()()
""", front="lib_deny.so")
    assert [f["code"] for f in answer["findings"]] == ["HW101"] and answer["coverage"]["status"] == "full"


def test_a_folder_that_looks_like_the_standard_library(outcome, tmp_path):
    path = tmp_path / "lib/python3-train/script.py"
    answer = outcome("""
def _make_probe_hook():
    return lambda: t.item()
_make_probe_hook()()
""", path=path)
    assert [f["filename"] for f in answer["findings"]] == [str(path)]


def test_a_copy_that_nobody_waits_for_is_a_warning(outcome):
    (row,) = outcome("""
def _make_probe_hook():
    def hook():
        framework.copy_to_host()
    return hook
_make_probe_hook()()
""")["findings"]
    assert (row["code"], row["severity"], row["waits"]) == ("HW102", "warning", 0)
