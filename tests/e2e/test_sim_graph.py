"""What runs when a CUDA graph is launched: twins, copies, fills and collectives."""

import os
import subprocess

import pytest

from sim_environment import environment, run


@pytest.fixture(scope="module")
def program(build, root, tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph"
    command = [os.environ.get("CC", "gcc"), "-I", root, "-o", path, root / "tests/e2e/sim_graph.c"]
    subprocess.run([*command, build / "lib/sim/libcudart.so.13", f"-Wl,-rpath,{build}/lib/sim"], check=True)
    return path


def test_twins_run_with_the_captured_arguments(program, build):
    done = subprocess.run([program], env=environment(build, values=False), capture_output=True, text=True)
    lines = ["driver 1 1", "buffer 2 2", "captured 2 2", "replayed 222 222", "copied 0 222"]
    assert (done.stdout.splitlines(), done.stderr) == (lines, "")


def test_without_sizes_it_is_said(program, build):
    done = subprocess.run([program, "plain"], env=environment(build, values=False), capture_output=True, text=True)
    assert done.stdout.splitlines() == ["driver 1 1", "buffer 1 1", "captured 1 1", "replayed 1 1", "copied 0 1"]
    assert [line.split(": ")[2] for line in done.stderr.splitlines()] == [
        "no value for add",
        "kernel add is captured into a graph, but its twin was registered without the sizes of its parameters",
    ]


def test_collectives_in_a_graph(build, torch_python, root):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", root / "tests/e2e/sim_graph_ranks.py"]
    done = run(build, torch_python, *launcher, devices=2)
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0", "rank 1"]
