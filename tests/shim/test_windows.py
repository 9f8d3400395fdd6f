"""Which rule a line gets from its Python frames, read without the GIL: every form, on a small runtime, without a framework."""

import json
import os
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
SOURCE = HERE / "windows.py"


def expected():
    return {(row, match[1]) for row, line in enumerate(SOURCE.read_text().splitlines(), 1) if (match := re.search(r"# (HW\d+)$", line))}


def run(build, torch_python, out, script, *args, **environment):
    environment = {
        **os.environ,
        "LD_PRELOAD": str(build / "lib/libhookwatch.so"),
        "HOOKWATCH_DIR": str(out),
        "HOOKWATCH_FRAMEWORK_PATHS": "*/shim/framework.py",
        **environment,
    }
    return subprocess.run(
        [torch_python, script, build / "tests/traps/lib_user13.so", *args], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def report(hookwatch, out, *options):
    done = subprocess.run([hookwatch, "report", out, "--output-format", "json", *options], stdout=subprocess.PIPE, text=True)
    assert done.returncode in (0, 1)
    return json.loads(done.stdout)


def python_of(version, torch_python):
    """A Python of that minor version: of the folders in HOOKWATCH_PYTHONS, else of the PATH; None if there is none."""
    places = [f"{folder}/python{version}" for folder in os.environ.get("HOOKWATCH_PYTHONS", "").split(":") if folder]
    for python in [torch_python, *places, f"python{version}"]:
        try:
            done = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
        except OSError:
            continue
        if done.stdout.strip() == version:
            return python
    return None


@pytest.fixture(scope="module", params=["3.11", "3.12", "3.13"])
def answer(request, build, hookwatch, torch_python, tmp_path_factory):
    python = python_of(request.param, torch_python)
    if python is None:
        pytest.skip(f"no Python {request.param} here; name folders of some in HOOKWATCH_PYTHONS")
    out = tmp_path_factory.mktemp("windows") / "out"
    done = run(build, python, out, SOURCE)
    assert done.returncode == 0, done.stderr
    return report(hookwatch, out)


def rows(answer):
    return [f for f in answer["findings"] if f["severity"] != "note"]


def test_every_form_gets_its_rule_and_nothing_else(answer):
    assert len(expected()) > 30
    assert {(f["location"]["row"], f["code"]) for f in rows(answer)} == expected()


def test_hooks_are_named(answer):
    text = SOURCE.read_text().splitlines()
    for f in rows(answer):
        if f["code"] == "HW501":
            assert f["hook"].endswith("Monitor.step")
        else:
            assert re.match(r"_make_\w+_hook\.<locals>\.", f["hook"]), f
    names = {f["hook"] for f in rows(answer)}
    assert "_make_généreux_hook.<locals>.crochet" in names
    assert "_make_lambda_hook.<locals>.<lambda>" in names
    assert "_make_flushing_hook.<locals>.hook" in names
    helper = next(row for row, line in enumerate(text, 1) if "return value.item()" in line)
    (found,) = (f for f in rows(answer) if f["location"]["row"] == helper)
    assert found["hook"] == "_make_helper_hook.<locals>.hook"


def test_counts_are_exact(answer):
    text = SOURCE.read_text().splitlines()
    for f in rows(answer):
        line = text[f["location"]["row"] - 1]
        expected_count = 3
        if "for _ in range(2)" in line or "return value.item()" in line or "{t:.3f}" in line:
            expected_count = 6  # twice in one step
        if f["hook"].startswith("_make_scalar_hook"):
            expected_count = 6  # on two threads
        if f["code"] == "HW501":
            expected_count = 6 if f["hook"].startswith("Loop") else 3  # the first copy of each flush is by the rules
        if "poll(200)" in line:
            assert f["count"] >= 100
            continue
        if "barrier()" in line:
            expected_count = 6  # its collective and its wait
        assert f["count"] == expected_count, (line, f["count"])
        no_wait = "copy_to_host" in line or f["code"] in ("HW107", "HW108", "HW201", "HW202")
        assert f["waits"] == (0 if no_wait else 3 if "barrier()" in line else f["count"]), line


def test_what_no_wait_follows_is_a_warning(answer):
    assert {f["code"] for f in rows(answer) if f["severity"] == "warning"} == {"HW102", "HW108"}
    notes = [f for f in answer["findings"] if f["severity"] == "note"]
    assert [(f["code"], f["count"], f["hook"]) for f in notes] == [("HW108", 1, "_make_first_allocation_hook.<locals>.hook")]


def test_steps_are_flush_visits(answer):
    assert answer["totals"]["steps"] == 3
    assert answer["processes"][0]["steps"] == 3


def test_outside_is_not_blamed(answer):
    assert answer["totals"]["outside"]["waits"] == 9
    assert answer["coverage"]["status"] == "full"


def test_a_second_report_is_the_same(answer, build, hookwatch, torch_python, tmp_path):
    done = run(build, torch_python, tmp_path / "out", SOURCE)
    assert done.returncode == 0, done.stderr
    again = report(hookwatch, tmp_path / "out")
    key = [(f["code"], f["location"]["row"], f["count"]) for f in answer["findings"]]
    assert sorted(key) == sorted((f["code"], f["location"]["row"], f["count"]) for f in again["findings"])


def test_disabled_records_nothing(build, torch_python, tmp_path):
    done = run(build, torch_python, tmp_path / "out", SOURCE, HOOKWATCH="0")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "out").exists()
