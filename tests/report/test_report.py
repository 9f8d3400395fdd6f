"""The report over several ranks, its statuses and its refusals; traces come from a small runtime, without a framework."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
SHIM_TESTS = HERE.parent / "shim"


@pytest.fixture(scope="module")
def traced(build, torch_python, tmp_path_factory):
    """traced(script, out, **environment): runs a script of ours under the shim."""

    def run(script, out, *arguments, **environment):
        env = {**os.environ, "LD_PRELOAD": str(build / "lib/libhookwatch.so"), "HOOKWATCH_DIR": str(out), "PYTHONDONTWRITEBYTECODE": "1"}
        env |= {"HOOKWATCH_FRAMEWORK_PATHS": "*/framework.py", **environment}
        return subprocess.run([torch_python, script, build / "tests/traps/lib_user13.so", *arguments], env=env, capture_output=True, text=True)

    return run


def hook_report(hookwatch, *arguments):
    return subprocess.run([hookwatch, "report", *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def two_ranks(traced, tmp_path_factory):
    out = tmp_path_factory.mktemp("ranks") / "out"
    for rank in "01":
        done = traced(SHIM_TESTS / "windows.py", out, RANK=rank, WORLD_SIZE="2")
        assert done.returncode == 0, done.stderr
    return out


def test_ranks_are_merged(hookwatch, two_ranks):
    done = hook_report(hookwatch, two_ranks, "--output-format", "json")
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert [(p["rank"], p["world"], p["steps"]) for p in answer["processes"]] == [(0, 2, 3), (1, 2, 3)]
    assert all(p["ended"] == "exit" and p["python"].startswith("3.") for p in answer["processes"])
    assert answer["totals"]["steps"] == 3
    assert {tuple(f["ranks"]) for f in answer["findings"]} == {(0, 1)}
    upload = next(f for f in answer["findings"] if f["code"] == "HW107")
    assert upload["count"] == 6 and upload["bytes"] == 48 and upload["predicted"] is None and upload["seen"] is True
    assert set(upload) >= {"name", "severity", "hook", "filename", "location", "api", "wait_ns", "max_wait_ns", "allowed", "stack"}
    assert upload["stack"][0]["function"] == "upload"


def test_text_fits_and_counts_per_step_and_rank(hookwatch, two_ranks):
    text = hook_report(hookwatch, two_ranks).stdout
    assert max(map(len, text.splitlines())) <= 100
    upload = next(line for line in text.splitlines() if line.startswith("HW107"))
    assert upload.split()[1:3] == ["6", "1.0"]
    assert "3 steps, 2 processes" in text and "\ncoverage:    full" in text


def test_every_format_prints(hookwatch, two_ranks):
    for name in ("concise", "json-lines", "github", "gitlab", "sarif", "junit"):
        done = hook_report(hookwatch, two_ranks, "--output-format", name)
        assert done.returncode == 1, (name, done.stderr)
        assert "HW107" in done.stdout, name
    done = hook_report(hookwatch, two_ranks, "--output-format", "nonsense")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_fail_on(hookwatch, two_ranks):
    assert hook_report(hookwatch, two_ranks, "--fail-on", "HW4").returncode == 0
    assert hook_report(hookwatch, two_ranks, "--fail-on", "HW4,HW107").returncode == 1
    assert hook_report(hookwatch, two_ranks, "--exit-zero").returncode == 0
    assert hook_report(hookwatch, two_ranks, "--fail-on", "HW999").returncode == 2


def test_no_data_is_no_zero(hookwatch, tmp_path):
    done = hook_report(hookwatch, tmp_path)
    assert done.returncode == 2 and "no data: the shim was not loaded" in done.stderr and done.stdout == ""
    done = hook_report(hookwatch, tmp_path / "missing")
    assert done.returncode == 2 and str(tmp_path / "missing") in done.stderr


def test_a_damaged_trace_is_named_and_the_others_count(hookwatch, two_ranks, tmp_path):
    shutil.copytree(two_ranks, tmp_path / "out")
    victim, other = sorted((tmp_path / "out").iterdir())
    victim.write_bytes(b"no trace" * 5000)
    done = hook_report(hookwatch, tmp_path / "out", "--output-format", "json")
    assert done.returncode == 1 and str(victim) in done.stderr and done.stderr.count("\n") == 1
    coverage = json.loads(done.stdout)["coverage"]
    assert coverage["status"] == "partial" and any(str(victim) in note for note in coverage["notes"])
    other.write_bytes(b"")
    assert hook_report(hookwatch, tmp_path / "out").returncode == 2


def test_a_missing_rank_is_said(hookwatch, two_ranks, tmp_path):
    shutil.copytree(two_ranks, tmp_path / "out")
    sorted((tmp_path / "out").iterdir())[0].unlink()
    answer = json.loads(hook_report(hookwatch, tmp_path / "out", "--output-format", "json").stdout)
    assert answer["coverage"]["status"] == "partial" and "1 of 2 ranks left a trace" in answer["coverage"]["notes"]


def test_files_that_never_end_do_not_hang_it(hookwatch, two_ranks, tmp_path):
    shutil.copytree(two_ranks, tmp_path / "out")
    os.mkfifo(tmp_path / "out" / "a.hwt")
    os.mkfifo(tmp_path / "out" / "b.hwt-at")
    assert hook_report(hookwatch, tmp_path / "out").returncode == 1


def test_an_idle_process_means_blindness_unless_it_is_a_relative(hookwatch, build, torch_python, tmp_path, traced):
    library = str(tmp_path / "libcudart.so.13")
    shutil.copy(build / "tests/traps/lib_cudart13.so", library)
    idle = tmp_path / "idle.py"
    idle.write_text(f"import ctypes, subprocess, sys\nctypes.CDLL({library!r})\nif len(sys.argv) > 2: subprocess.run(sys.argv[2:], check=True)\n")
    assert traced(idle, tmp_path / "out").returncode == 0
    alone = json.loads(hook_report(hookwatch, tmp_path / "out", "--output-format", "json").stdout)
    assert alone["coverage"]["status"] == "unknown" and "no call of it came through" in " ".join(alone["coverage"]["notes"])
    assert traced(SHIM_TESTS / "windows.py", tmp_path / "out").returncode == 0
    stranger = json.loads(hook_report(hookwatch, tmp_path / "out", "--output-format", "json").stdout)
    assert stranger["coverage"]["status"] == "unknown"
    done = traced(idle, tmp_path / "launched", torch_python, SHIM_TESTS / "windows.py", build / "tests/traps/lib_user13.so")
    assert done.returncode == 0, done.stderr
    parent = json.loads(hook_report(hookwatch, tmp_path / "launched", "--output-format", "json").stdout)
    assert parent["coverage"]["status"] == "full" and len(parent["processes"]) == 1


PROBE = """import sys
import framework
framework.load(sys.argv[1])
t = framework.Tensor()

def _make_read_hook():
    def hook(module, inputs, output):
        return output.item()  {comment}
    return hook

_make_read_hook()(None, None, t)
"""


@pytest.fixture
def project(tmp_path):
    """A folder with a probe beside the stand-in framework."""

    def make(name, comment=""):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        shutil.copy(SHIM_TESTS / "framework.py", folder)
        (folder / "probe.py").write_text(PROBE.format(comment=comment))
        return folder

    return make


def one_row(done):
    (row,) = json.loads(done.stdout)["findings"]
    return row


def test_join_with_lint(hookwatch, traced, project, tmp_path):
    folder = project("here")
    assert traced(folder / "probe.py", tmp_path / "out").returncode == 0
    row = one_row(hook_report(hookwatch, tmp_path / "out", "--lint", folder, "--output-format", "json"))
    assert (row["code"], row["predicted"], row["seen"], row["predicted_code"]) == ("HW101", True, True, None)


def test_an_allowed_line_does_not_fail(hookwatch, traced, project, tmp_path):
    folder = project("here", "# hookwatch: allow HW101 -- read once per epoch")
    assert traced(folder / "probe.py", tmp_path / "out").returncode == 0
    done = hook_report(hookwatch, tmp_path / "out", "--output-format", "json")
    assert done.returncode == 0 and one_row(done)["allowed"] == "read once per epoch"


def test_an_allowance_is_for_its_own_rule(hookwatch, traced, project, tmp_path):
    folder = project("here", "# hookwatch: allow HW101 -- printed once")
    probe = (folder / "probe.py").read_text().replace("output.item()", "output.item() + output.raw(64)")
    (folder / "probe.py").write_text(probe)
    assert traced(folder / "probe.py", tmp_path / "out").returncode == 0
    for options in ([], ["--lint", folder]):
        done = hook_report(hookwatch, tmp_path / "out", *options, "--output-format", "json")
        assert done.returncode == 1
        assert {f["code"]: f["allowed"] for f in json.loads(done.stdout)["findings"] if f["seen"]} == {"HW101": "printed once", "HW102": None}


def test_a_source_that_is_gone_is_not_allowed(hookwatch, traced, project, tmp_path):
    folder = project("here", "# hookwatch: allow HW101 -- read once per epoch")
    assert traced(folder / "probe.py", tmp_path / "out").returncode == 0
    (folder / "probe.py").unlink()
    done = hook_report(hookwatch, tmp_path / "out", "--output-format", "json")
    assert done.returncode == 1 and one_row(done)["allowed"] == "unknown"


def test_another_path_joins_by_suffix_or_map(hookwatch, traced, project, tmp_path):
    inside, outside = project("container/job"), project("checkout/job")
    assert traced(inside / "probe.py", tmp_path / "out").returncode == 0
    shutil.rmtree(inside)
    row = one_row(hook_report(hookwatch, tmp_path / "out", "--lint", outside, "--output-format", "json"))
    assert row["predicted"] and row["seen"]
    mapped = f"{inside.parent}={outside.parent}"
    row = one_row(hook_report(hookwatch, tmp_path / "out", "--path-map", mapped, "--lint", outside, "--output-format", "json"))
    assert row["predicted"] and row["filename"] == str(outside / "probe.py")


def test_an_ambiguous_suffix_is_an_error_that_lists_both(hookwatch, traced, project, tmp_path):
    inside, first, second = project("container/job"), project("a/job"), project("b/job")
    assert traced(inside / "probe.py", tmp_path / "out").returncode == 0
    shutil.rmtree(inside)
    done = hook_report(hookwatch, tmp_path / "out", "--lint", first, "--lint", second)
    assert done.returncode == 2
    assert str(first / "probe.py") in done.stderr and str(second / "probe.py") in done.stderr and "--path-map" in done.stderr


def test_run_moves_an_older_run_aside(hookwatch, tmp_path, torch_python):
    out = tmp_path / "out"
    for text in ("first", "second", "third"):
        assert subprocess.run([hookwatch, "run", "-o", out, "--", "true"]).returncode == 0
        assert list(out.iterdir()) == []
        (out / f"h.-.{text}.hwt").write_text(text)
    assert [p.name for p in (tmp_path / "out.old").iterdir()] == ["h.-.second.hwt"]
    for folder in (out, tmp_path / "out.old"):
        (folder / "precious.txt").write_text("mine")
    assert subprocess.run([hookwatch, "run", "-o", f"{out}/", "--", "true"]).returncode == 0
    assert sorted(p.name for p in (tmp_path / "out.old").iterdir()) == ["h.-.third.hwt", "precious.txt"]
    assert [p.name for p in out.iterdir()] == ["precious.txt"]


def test_ranks_that_start_one_after_the_other_keep_their_traces(hookwatch, build, torch_python, tmp_path):
    command = [torch_python, SHIM_TESTS / "windows.py", build / "tests/traps/lib_user13.so"]
    for rank in "012":
        env = {**os.environ, "HOOKWATCH_FRAMEWORK_PATHS": "*/framework.py", "RANK": rank, "WORLD_SIZE": "3", "PYTHONDONTWRITEBYTECODE": "1"}
        assert subprocess.run([hookwatch, "run", "-o", tmp_path / "out", "--", *command], env=env).returncode == 0
    answer = json.loads(hook_report(hookwatch, tmp_path / "out", "--output-format", "json").stdout)
    assert [p["rank"] for p in answer["processes"]] == [0, 1, 2]
    first = {path.name for path in (tmp_path / "out").iterdir()}
    for rank in "012":  # again: each rank moves its own
        env |= {"RANK": rank}
        assert subprocess.run([hookwatch, "run", "-o", tmp_path / "out", "--", *command], env=env).returncode == 0
    assert {path.name for path in (tmp_path / "out.old").iterdir()} == first
    assert not first & {path.name for path in (tmp_path / "out").iterdir()}


def test_an_interrupt_of_the_terminal_reaches_the_command_once(hookwatch, tmp_path):
    import pty

    # The handler may run inside print: it writes past Python's buffer, which refuses to be entered twice.
    script = "import os, signal, time\nsignal.signal(signal.SIGINT, lambda *_: os.write(1, b'INT\\n'))\nprint('ready', flush=True)\n" + (
        "t = time.monotonic() + 1.5\nwhile time.monotonic() < t: time.sleep(0.05)\nprint('end', flush=True)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(hookwatch, [hookwatch, "run", "--report", "-o", str(tmp_path / "out"), "--", shutil.which("python3"), "-c", script])
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    while b"end" not in seen:
        seen += os.read(terminal, 1000)
    os.waitpid(pid, 0)
    assert seen.count(b"INT") == 1


@pytest.mark.parametrize("options", [[], ["--report"]])
def test_run_ends_as_the_command_does(hookwatch, tmp_path, options):
    def status(*command):
        return subprocess.run([hookwatch, "run", *options, "-o", tmp_path / "out", "--", *command], capture_output=True).returncode

    assert status("true") == 0
    assert status("sh", "-c", "exit 7") == 7
    assert status("sh", "-c", "kill -TERM $$") == -15
    assert status("sh", "-c", "kill -SEGV $$") == -11
    assert status(tmp_path / "nothing-here") == 127
    assert status(tmp_path) == 126


def test_run_forwards_signals_to_the_command(hookwatch, tmp_path):
    script = "trap 'echo got; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    child = subprocess.Popen([hookwatch, "run", "--report", "-o", tmp_path / "out", "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    child.terminate()
    assert child.stdout.read() == "got\n"
    assert child.wait() == 5


def test_strict_turns_only_a_success_into_a_failure(hookwatch, build, torch_python, tmp_path, project):
    folder = project("here")
    command = [torch_python, folder / "probe.py", build / "tests/traps/lib_user13.so"]
    env = {**os.environ, "HOOKWATCH_FRAMEWORK_PATHS": "*/framework.py", "PYTHONDONTWRITEBYTECODE": "1"}

    def status(*options):
        return subprocess.run([hookwatch, "run", *options, "-o", tmp_path / "out", "--", *command], env=env, capture_output=True).returncode

    assert status() == 0
    assert status("--strict") == 1
    assert status("--fail-on", "HW101") == 1
    assert status("--fail-on", "HW2") == 0
    assert status("--report") == 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "name the program"),
        (["--zeros", "--", "true"], "--simulate"),
        (["--devices", "0", "--simulate", "--", "true"], "--devices"),
        (["--backend", "magic", "--", "true"], "--backend"),
        (["--fail-on", "X", "--", "true"], "--fail-on"),
        (["-o", "/proc/nowhere", "--", "true"], "/proc/nowhere"),
    ],
)
def test_bad_options_are_one_line_and_status_2(hookwatch, arguments, words, tmp_path):
    done = subprocess.run([hookwatch, "run", *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr
