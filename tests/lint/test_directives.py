"""Allow directives bind to one statement and one code, with a reason; whatever else they say is a finding."""

import pytest


def hook(*lines):
    body = "".join(f"        {line}\n" for line in lines)
    return f"import torch.distributed as dist\n\ndef _make_x_hook(s):\n    def h(o):\n{body}    return h\n"


def codes(project, *lines):
    project.write("a.py", hook(*lines))
    return [(row - 4, code) for _, row, code in project.lines()]


@pytest.mark.parametrize(
    "lines",
    [
        ["dist.all_reduce(o)  # hookwatch: allow HW201 -- sharded"],
        ["# hookwatch: allow HW201 -- sharded", "dist.all_reduce(o)"],
        ["#hookwatch:allow HW201 -- sharded", "dist.all_reduce(o)"],
        ["dist.all_reduce(  # hookwatch: allow HW201 -- sharded", "    o,", ")"],
        ["dist.all_reduce(", "    # hookwatch: allow HW201 -- sharded", "    o,", ")"],
        ["dist.all_reduce(", "    o,", ")  # hookwatch: allow HW201 max=64KiB -- sharded"],
        ["if o is not None:  # a branch", "    # hookwatch: allow HW201 -- sharded", "    dist.all_reduce(o)"],
    ],
)
def test_allowed(project, lines):
    assert codes(project, *lines) == []
    (allowed,) = [f for f in project.lint("--show-allowed", ".") if f["allowed"]]
    assert allowed["code"] == "HW201" and allowed["allowed"] == "sharded"


def test_each_statement_and_code_needs_its_own(project):
    assert codes(project, "# hookwatch: allow HW201 -- r", "dist.all_reduce(o)", "dist.all_reduce(o)") == [(3, "HW201")]
    assert codes(project, "# hookwatch: allow HW101 -- r", "s.add(o.item(), o.cpu())") == [(2, "HW102")]
    assert codes(project, "# hookwatch: allow HW101 -- r", "# hookwatch: allow HW102 -- q", "s.add(o.item(), o.cpu())") == []
    # a directive on the header of a compound statement does not reach into its body
    assert codes(project, "if s:  # hookwatch: allow HW101 -- r", "    o.item()") == [(1, "HW903"), (2, "HW101")]


@pytest.mark.parametrize(
    "comment",
    [
        "# hookwatch: allow HW201",
        "# hookwatch: allow HW201 --",
        "# hookwatch: allow HW201 reason without dashes",
        "# hookwatch: allow HW201: sharded",
        "# hookwatch: allow collective -- sharded",
        "# hookwatch: allow hw201 -- sharded",
        "# hookwatch: allow HW201,HW202 -- sharded",
        "# hookwatch: allow -- sharded",
        "# hookwatch: disable HW201 -- sharded",
        "# hookwatch allow HW201 -- sharded",
        "# hookwatch: allow HW201 max=64 -- sharded",
        "# hookwatch: allow HW101 max=64KiB -- sharded",
    ],
)
def test_malformed_directives_are_findings_and_allow_nothing(project, comment):
    assert codes(project, comment, "dist.all_reduce(o)") == [(1, "HW902"), (2, "HW201")]


def test_noqa_means_nothing(project):
    assert codes(project, "s.add(o.item())  # noqa") == [(1, "HW101")]


def test_unused_allow(project):
    assert codes(project, "# hookwatch: allow HW201 -- r", "s.add(o)") == [(1, "HW903")]
    # what only run time can see is not judged here
    assert codes(project, "# hookwatch: allow HW206 -- r", "s.add(o)") == []


def test_directives_in_strings_and_prose_are_none(project):
    assert codes(project, "s.add('# hookwatch: allow HW201')", "s.add(o)  # the hookwatch docs explain this") == []


def test_plain_comment_is_quoted_not_accepted(project):
    project.write("a.py", hook("# TP shards channels", "dist.all_reduce(o)"))
    (finding,) = project.lint()
    assert finding["code"] == "HW201" and "TP shards channels" in finding["message"]


def test_test_files_get_notes(project):
    bad = hook("o.item()")
    for name in ("tests/a.py", "docs/x/conf.py", "test_a.py", "a_test.py", "conftest.py"):
        project.write(name, bad)
    assert {f["severity"] for f in project.lint()} == {"note"} and project.run(".").returncode == 0
    project.write("src/latest/contest.py", bad)
    assert project.run(".").returncode == 1
    (project.root / "src" / "latest" / "contest.py").unlink()
    project.write("hookwatch.toml", 'test-files = "error"\n')
    assert project.run(".").returncode == 1


def test_root_of_the_project_decides_what_is_a_test(project):
    (project.root / "hookwatch.toml").unlink()
    bad = hook("o.item()")
    project.write("tests/case/a.py", bad)
    assert project.run(".").returncode == 0
    project.write("tests/case/pyproject.toml", "[tool.ruff]\n")
    assert project.run("tests/case/a.py").returncode in (0, 1)
    assert project.run(".").returncode == 0
    project.write("tests/case/pyproject.toml", "[tool.hookwatch]\n")
    assert project.run(".").returncode == 1
