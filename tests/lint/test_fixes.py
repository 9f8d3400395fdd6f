"""--fix changes what is safe to change, and nothing else: pairs of .in.py and .out.py; and comments as justification."""

import pathlib

import pytest

FIXES = pathlib.Path(__file__).resolve().parent / "fixes"


@pytest.mark.parametrize("path", sorted(FIXES.glob("*.in.py")), ids=lambda path: path.name.split(".")[0])
@pytest.mark.parametrize("form", ["plain", "crlf", "bom"])
def test_fix(project, path, form):
    before, after = path.read_bytes(), path.with_name(path.name.replace(".in.", ".out.")).read_bytes()
    if form == "crlf":
        before, after = before.replace(b"\n", b"\r\n"), after.replace(b"\n", b"\r\n")
    elif form == "bom":
        before, after = b"\xef\xbb\xbf" + before, b"\xef\xbb\xbf" + after
    file = project.write("a.py", before)
    file.chmod(0o750)
    left = project.lint()
    changed = project.run("--diff", ".")
    assert file.read_bytes() == before and changed.returncode == 1
    run = project.run("--fix", ".")
    assert file.read_bytes() == after and file.stat().st_mode & 0o777 == 0o750
    fixed = sum(finding["fix"] is not None for finding in left)
    assert fixed and "in 1 file" in run.stderr
    # a second run finds the rest, and nothing more to fix
    rest = project.lint()
    assert len(rest) == len(left) - fixed and not any(finding["fix"] for finding in rest)
    assert project.run("--fix", ".").stderr == "" and file.read_bytes() == after


def test_fix_in_json_is_the_edit(project):
    text = (FIXES / "record.in.py").read_text()
    project.write("a.py", text)
    finding = next(f for f in project.lint() if f["fix"])
    (edit,) = finding["fix"]["edits"]
    lines = text.splitlines()
    row = edit["location"]["row"] - 1
    line = lines[row][: edit["location"]["column"] - 1] + edit["content"] + lines[row][edit["end_location"]["column"] - 1 :]
    assert edit["location"]["row"] == edit["end_location"]["row"] and line == lines[row].replace(".item()", "")


def test_fix_of_everything_exits_zero_and_leaves_others_alone(project):
    body = "import torch.distributed as dist\n\ndef _make_x_hook():\n    def h(g):\n        dist.all_reduce(g)  # sharded\n    return h\n"
    file, latin = project.write("a.py", body), project.write("b.py", ("# coding: latin-1\n" + body.replace("sharded", "shardé")).encode("latin-1"))
    run = project.run("--fix", "a.py")
    assert run.returncode == 0 and "allow HW201 -- sharded" in file.read_text()
    before = latin.read_bytes()
    run = project.run("--fix", "b.py")
    assert run.returncode == 2 and latin.read_bytes() == before and "b.py" in run.stderr and run.stderr.count("\n") == 1
    run = project.run("--fix", "-", input="x = 1\n")
    assert run.returncode == 2 and run.stderr.count("\n") == 1


COMMENTS = [
    (["dist.all_reduce(g)"], None),
    (["# TP shards the channels", "dist.all_reduce(g)"], "TP shards the channels"),
    (["# TP shards", "# the channels", "dist.all_reduce(g)"], "TP shards the channels"),
    (["dist.all_reduce(g)  # TP shards the channels"], "TP shards the channels"),
    (["# TP shards the channels", "", "dist.all_reduce(g)"], None),
    (["# noqa", "dist.all_reduce(g)"], None),
    (["dist.all_reduce(g)  # type: ignore"], None),
    (["dist.all_reduce(g)  # TODO: batch these"], None),
    (["# ----", "dist.all_reduce(g)"], None),
    (['"""Channels are sharded."""', "dist.all_reduce(g)"], "Channels are sharded."),
    (["# hookwatch: allow HW201 -- sharded", "dist.all_reduce(g)"], "sharded"),
]


@pytest.mark.parametrize(("lines", "reason"), COMMENTS)
def test_comments_justify_where_the_project_says_so(project, lines, reason):
    body = "".join(f"        {line}\n" for line in lines)
    project.write("a.py", f"import torch.distributed as dist\n\ndef _make_x_hook():\n    def h(g):\n{body}    return h\n")
    (project.root / "hookwatch.toml").write_text('collective-justification = "comment"\n')
    (finding,) = project.lint("--show-allowed", ".")
    assert finding["allowed"] == reason and project.run(".").returncode == (0 if reason else 1)
    (project.root / "hookwatch.toml").write_text("")
    (finding,) = project.lint("--show-allowed", ".")
    assert finding["allowed"] == ("sharded" if "hookwatch" in lines[0] else None)


def test_a_comment_allows_no_wait(project):
    (project.root / "hookwatch.toml").write_text('collective-justification = "comment"\n')
    project.write("a.py", "def _make_x_hook(s):\n    def h(g):\n        # needed\n        s.add(g.item())\n    return h\n")
    assert project.run(".").returncode == 1
