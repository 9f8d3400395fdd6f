"""The wheel, as pre-commit builds and installs it from a clone of this repository: commits that fail and pass, and what is in it."""

import os
import shutil
import subprocess
import sys

import pytest

BAD = """def _make_norm_hook(sink):
    def hook(module, inputs, output):
        sink.append(output.norm().item())

    return hook
"""
GOOD = BAD.replace(".norm().item()", ".norm().detach()")


def call(*command, cwd, env=None, status=0):
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def git(*arguments, cwd, **options):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"]
    return call("git", *identity, *arguments, cwd=cwd, **options)


@pytest.fixture(scope="module")
def source(root, tmp_path_factory):
    """A repository with the files of this one, as they are now, in one commit."""
    folder = tmp_path_factory.mktemp("source")
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)
    git("init", "-q", cwd=folder)
    git("add", "-A", cwd=folder)
    git("commit", "-q", "-m", "all", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def project(source, tmp_path_factory):
    """A project that uses the hook, its environment installed."""
    folder, home = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("home")
    revision = git("rev-parse", "HEAD", cwd=source).strip()
    (folder / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {source}\n  rev: {revision}\n  hooks:\n  - id: hookwatch-lint\n"
    )
    git("init", "-q", cwd=folder)
    env = {**os.environ, "PRE_COMMIT_HOME": str(home), "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    env = {k: v for k, v in env.items() if not k.startswith(("MAKE", "MFLAGS"))}
    call(sys.executable, "-m", "pre_commit", "install", "--install-hooks", cwd=folder, env=env)
    (program,) = home.glob("repo*/py_env-*/bin/hookwatch")
    return folder, env, program


def commit(project, text):
    folder, env, _ = project
    (folder / "probe.py").write_text(text)
    git("add", "-A", cwd=folder)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    return subprocess.run(["git", *identity, "commit", "-m", "probe"], cwd=folder, env=env, capture_output=True, text=True)


def test_a_commit_that_waits_in_a_hook_is_refused(project):
    done = commit(project, BAD)
    assert done.returncode == 1 and "probe.py:3" in done.stdout + done.stderr and "HW101" in done.stdout + done.stderr
    assert git("log", "--oneline", cwd=project[0], status=128)


def test_a_clean_commit_passes(project):
    done = commit(project, GOOD)
    assert done.returncode == 0, done.stdout + done.stderr
    assert git("log", "--oneline", cwd=project[0]).count("\n") == 1


def test_the_wheel_is_the_whole_tool(project, torch_python, tmp_path):
    _, _, program = project
    assert "hookwatch " in call(program, "--version", cwd=tmp_path)
    script = tmp_path / "script.py"
    script.write_text("import torch\nprint(torch.ones(3, device='cuda').sum().item())\n")
    assert "3.0" in call(program, "run", "--simulate", "-o", tmp_path / "out", "--", torch_python, script, cwd=tmp_path)
    assert "1 process" in call(program, "report", tmp_path / "out", cwd=tmp_path)
    python = program.parent / "python"
    check = "import hookwatch, importlib.metadata as m; assert not hookwatch.loaded(); print([e.value for e in m.entry_points(group='pytest11')])"
    assert "hookwatch.pytest_plugin" in call(python, "-c", check, cwd=tmp_path)


def test_the_program_needs_libc_only(project, tmp_path):
    text = call("readelf", "-d", project[2], cwd=tmp_path)
    needed = [line.split("[")[1].split("]")[0] for line in text.splitlines() if "(NEEDED)" in line]
    assert set(needed) <= {"libc.so.6", "libm.so.6"}
