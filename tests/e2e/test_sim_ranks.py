"""The simulated NCCL between processes: values, asynchrony, and ranks that never come."""

import os
import pathlib
import re
import shutil
import socket
import subprocess

import pytest

from sim_environment import environment, run


def torchrun(build, python, root, world, *arguments, **options):
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={world}"]
    return run(build, python, *launcher, root / "tests/e2e/sim_ranks.py", *arguments, devices=world, **options)


def segments():
    places = pathlib.Path("/dev/shm"), pathlib.Path("/tmp")
    return {p.name for place in places for p in place.glob("hookwatch-??????*")}


def ranks(build, python, root, world, *arguments, **options):
    """The same without a launcher, which would end all ranks when one dies: their (status, stdout, stderr)."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    env = environment(build, devices=world, **options)
    env.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE=str(world))
    running = [
        subprocess.Popen(
            [python, root / "tests/e2e/sim_ranks.py", *arguments],
            env={**env, "RANK": str(r), "LOCAL_RANK": str(r)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for r in range(world)
    ]
    said = [process.communicate() for process in running]
    return [(process.returncode, *texts) for process, texts in zip(running, said)]


def test_a_killed_rank(build, torch_python, root, monkeypatch):
    """Nothing of it is left behind; the report names it, and torch's watchdog ends the ones that wait."""
    monkeypatch.setenv("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "500")
    before = segments()
    waiting, dead = ranks(build, torch_python, root, 2, "killed", stuck="1")
    assert dead[0] == -9 and waiting[0] != 0
    assert "STUCK: rank 0 of 2" in waiting[2] and "waits for rank 1" in waiting[2]
    assert re.search("watchdog.*timeout", waiting[2], re.IGNORECASE), waiting[2]
    assert not segments() - before


def test_shrink(build, torch_python, root):
    before = segments()
    first, second, dead = ranks(build, torch_python, root, 3, "shrink")
    assert (first[0], first[1]) == (0, "rank 0 of 2\n"), first[2]
    assert (second[0], second[1]) == (0, "rank 1 of 2\n"), second[2]
    assert dead[0] == -9 and not segments() - before


def test_a_small_shared_memory_mount_is_enough(build, torch_python, root, tmp_path):
    """Containers often have a /dev/shm of 64 MiB; here it holds nothing at all."""
    mount = "mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs /dev/shm"
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("no mount namespace for this user")
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", root / "tests/e2e/sim_ranks.py", "values"]
    command = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh", torch_python, *launcher]
    done = subprocess.run(command, env=environment(build, devices=2), capture_output=True, text=True)
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 values", "rank 1 values"], done.stderr


def test_values(build, torch_python, root):
    before = segments()
    done = torchrun(build, torch_python, root, 3, "values")
    assert sorted(done.stdout.split("\n"))[1:] == [f"rank {r} values" for r in range(3)]
    assert "no value" not in done.stderr and not segments() - before


def test_asynchrony(build, torch_python, root, tmp_path):
    """Opposite order of communicators, work that is not ready, and at last a rank that never comes."""
    before = segments()
    done = torchrun(build, torch_python, root, 2, "asynchronous", tmp_path / "asked", stuck="1")
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 went on", "rank 1 went on"]
    stuck = [line for line in (tmp_path / "asked.said").read_text().splitlines() if "STUCK" in line]
    assert len(stuck) == 1 and "rank 0 of 2" in stuck[0] and "(all_reduce)" in stuck[0]
    assert stuck[0].endswith("waits for rank 1") and not segments() - before


def test_megatron_with_shared_experts(build, torch_python, root):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = run(build, torch_python, *launcher, root / "tests/e2e/megatron_moe.py", devices=2)
    losses = [float(loss) for loss in re.findall(r"loss (\d\.\d{3})", done.stdout)]  # the ranks' lines may mix
    assert len(losses) == 2 and all(3.5 < loss < 5 for loss in losses)  # near log(64), the vocabulary
    assert "no value" not in done.stderr


@pytest.fixture(scope="module")
def without_memfd(tmp_path_factory):
    """A library to preload, under which the kernel has no unnamed files in memory."""
    here = tmp_path_factory.mktemp("memfd")
    (here / "none.c").write_text("#include <errno.h>\nint memfd_create(const char *n, unsigned f) { errno = ENOSYS; return -1; }\n")
    subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-fPIC", "-o", here / "none.so", here / "none.c"], check=True)
    return here / "none.so"


def test_files_where_there_is_no_unnamed_memory(build, torch_python, root, tmp_path, without_memfd):
    """In $TMPDIR, and gone as soon as all ranks have them; where that cannot be written one line says so and torch raises."""
    env = environment(build)
    env = {"LD_PRELOAD": f"{without_memfd}:{env['LD_PRELOAD']}", "TMPDIR": str(tmp_path)}
    assert torchrun(build, torch_python, root, 2, "values", env=env).stdout.count("values") == 2
    assert not list(tmp_path.glob("hookwatch-*"))
    program = tmp_path / "program.py"
    program.write_text("import torch.distributed as d, torch\nd.init_process_group('nccl')\nd.all_reduce(torch.ones(1).cuda())\n")
    env.update(TMPDIR=f"{tmp_path}/none", RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    done = run(build, torch_python, program, env=env, status=1)
    (line,) = [text for text in done.stderr.splitlines() if text.startswith("hookwatch")]
    assert line == (
        f"hookwatch: simulate: {tmp_path}/none: no file for a communicator: No such file or directory; "
        "set TMPDIR to a directory that can be written"
    )
    assert "unhandled system error" in done.stderr
