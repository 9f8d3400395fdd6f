"""The preloaded object itself: what it needs, exports and takes from every process it is loaded into."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
API = {"hw_window_begin", "hw_window_end", "hw_step", "hw_shim_version"}


def readelf(option, file):
    return subprocess.run(["readelf", "-W", option, file], stdout=subprocess.PIPE, text=True, check=True).stdout


@pytest.fixture(scope="module")
def shim(build):
    return build / "lib/libhookwatch.so"


def test_needs_libc_only(shim):
    """An unresolvable library of a preloaded object kills every child process."""
    assert re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", shim)) == ["libc.so.6"]


def test_resolves_everything_in_libc(shim):
    """A symbol that only the Python process has would kill compilers and shells with status 127."""
    undefined = re.findall(r"UND (\S+)", readelf("--dyn-syms", shim))
    weak_of_the_toolchain = {"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__cxa_finalize"}
    assert undefined
    assert [s for s in undefined if "@GLIBC_" not in s and s not in weak_of_the_toolchain] == []


def test_takes_little_thread_storage(shim):
    size = int(re.search(r"TLS\s+\S+ \S+ \S+ \S+ (\S+)", readelf("-l", shim))[1], 16)
    assert 0 < size <= 256


def test_defines_no_version_node(shim):
    """A named node would not match callers that ask for cudaX@libcudart.so.13."""
    assert "Version definition" not in readelf("-V", shim)


def test_exports_the_table_and_nothing_else(shim):
    table = set(re.findall(r"^HW_HOOK\(\w+, (\w+),", (ROOT / "interpose/hooks.def").read_text(), re.M))
    exported = {line.split()[-1] for line in readelf("--dyn-syms", shim).splitlines() if re.search(r"(GLOBAL|WEAK) +DEFAULT +\d+ ", line)}
    assert len(table) > 60
    assert exported == table | API
