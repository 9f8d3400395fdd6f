"""A pytest plugin: `pytest --hookwatch` runs the tests under `hookwatch run`, on the simulated CUDA stack where there is no GPU,
and the fixture `hookwatch` asserts what a block of code may do to the device:

    def test_monitor_is_silent(hookwatch):
        with hookwatch.expect(waits=0, collectives=0):
            train_step()
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from hookwatch.window import COUNTS, loaded, totals, window

GPU = "/proc/driver/nvidia/version"


def pytest_addoption(parser):
    group = parser.getgroup("hookwatch")
    group.addoption("--hookwatch", action="store_true", help="count host waits, copies and collectives; on the simulated CUDA stack where there is no GPU")
    group.addoption("--hookwatch-output", metavar="DIR", default=None, help="where the traces go (default: ./hookwatch.out)")


def _command():
    """The hookwatch program: HOOKWATCH_PROGRAM names it, else it is beside this Python or on the PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "hookwatch")
    return os.environ.get("HOOKWATCH_PROGRAM") or (beside if os.access(beside, os.X_OK) else shutil.which("hookwatch"))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Becomes the same pytest under the shim: a library can only be preloaded when a process starts."""
    if not config.option.hookwatch or loaded():
        return None
    command = _command()
    if not command:
        raise pytest.UsageError("--hookwatch: the program hookwatch is not on the PATH; install it, or name it in HOOKWATCH_PROGRAM")
    line = [command, "run", *([] if os.path.exists(GPU) else ["--simulate"])]
    if config.option.hookwatch_output:
        line += ["-o", config.option.hookwatch_output]
    line += ["--", sys.executable, "-m", "pytest", *config.invocation_params.args]
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()  # gives the terminal back
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command, line)


class Hookwatch:
    """What the fixture gives."""

    def __init__(self, name):
        self._name = name
        self._blocks = 0

    @contextlib.contextmanager
    def expect(self, **limits):
        """Fails the test unless the calls in the block come to exactly these counts: this thread's, and those of hooks that
        other threads run meanwhile, as autograd's do. Names: waits, d2h_copies, pageable_uploads, collectives, allocations,
        launches. What is not named may be anything."""
        names = [name for name in COUNTS if name != "wait_ns"]
        unknown = sorted(set(limits) - set(names))
        if unknown or not limits:
            raise ValueError(f"expect() wants one or more of {', '.join(names)}; got {', '.join(unknown) or 'none'}")
        self._blocks += 1
        name = f"{self._name} block {self._blocks}"
        before, directory = self._totals()
        rows = _rows(directory)
        with window(name):
            yield
        after, directory = self._totals()
        counts = {key: after[key] - before[key] for key in limits}
        if counts != limits:
            pytest.fail(_explain(name, limits, counts, rows, _rows(directory)), pytrace=False)

    @staticmethod
    def _totals():
        found = totals()
        if found is None:
            pytest.fail("hookwatch: nothing could be recorded: the trace directory cannot be written", pytrace=False)
        return found


def _rows(directory):
    """What the run so far did inside hooks and blocks: the report's rows by what makes them one."""
    done = subprocess.run(
        [_command() or "hookwatch", "report", directory, "--output-format", "json"],
        env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"},
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1):
        return {}
    return {(f["code"], f["hook"], f["filename"], f["location"]["row"]): f for f in json.loads(done.stdout)["findings"]}


def _explain(name, limits, counts, before, after):
    lines = [f"{name}: expected {_words(limits)}, counted {_words(counts)}"]
    for key, row in sorted(after.items(), key=lambda item: -item[1]["count"]):
        count = row["count"] - (before[key]["count"] if key in before else 0)
        if count and (row["code"] != "HW108" or "allocations" in limits):
            where = os.path.relpath(row["filename"]) if row["filename"] else "(no Python line)"
            hook = "" if row["hook"] == name else f", hook {row['hook']}"
            lines.append(f"  {row['code']}  {count:>6} x {row['api']:<22} {where}:{row['location']['row']}{hook}")
    return "\n".join(lines)


def _words(counts):
    return ", ".join(f"{key}={value}" for key, value in counts.items())


@pytest.fixture
def hookwatch(request):
    """`with hookwatch.expect(waits=0): ...`; needs `pytest --hookwatch`."""
    if not loaded():
        pytest.skip("needs pytest --hookwatch")
    return Hookwatch(request.node.nodeid)
