"""The preloaded object itself: what it needs, exports and reserves in processes that never asked for it."""

import re
import subprocess

import pytest


def tool(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def shim(build):
    return str(build / "lib/libhookwatch.so")


def test_needs_libc_only(shim):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-dW", shim))
    assert set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, needed


def test_undefined_symbols_are_libc_s(shim):
    undefined = [line.split()[-1] for line in tool("nm", "-D", "--undefined-only", shim).splitlines()]
    # weak ones may stay unresolved; all others carry a version of libc's
    assert [name for name in undefined if "@GLIBC_" not in name and not name.startswith(("_ITM_", "__gmon_start__"))] == []


def test_thread_storage_is_small(shim):
    sizes = [int(line.split()[5], 16) for line in tool("readelf", "-lW", shim).splitlines() if line.split()[:1] == ["TLS"]]
    assert sum(sizes) <= 256, sizes


def test_exports_have_no_version_node(shim):
    symbols = tool("nm", "-D", "--defined-only", shim).split()
    exported = [name for name in symbols if re.match(r"(cuda|nccl|__cuda)[A-Z]", name)]
    assert len(exported) > 60
    assert [name for name in exported if "@" in name] == []


def test_exports_nothing_of_its_own_but_the_interface(shim):
    names = {line.split()[-1] for line in tool("nm", "-D", "--defined-only", shim).splitlines()}
    assert {name for name in names if not re.match(r"(__cuda|cuda|nccl)[A-Z]", name)} <= {
        "hw_window_begin",
        "hw_window_end",
        "hw_step",
        "hw_shim_version",
        "hw_trace_totals",
        "hw_emit",
    }
