"""Every rule: a page, `explain`, help in SARIF, and for those the linter raises a fixture with faults, marked `#! HW101`, and
one without."""

import json
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE / "rules"
RULES = re.findall(r'^HW_RULE\((\d+), "([\w-]+)", \w+, "(\w+)"', (HERE.parent.parent / "core" / "rules.def").read_text(), re.M)
# Needs several pages of analysis of a flush, which is run time's to count: report shows it.
RUN_TIME_ONLY = {"501"}
LINTED = [number for number, _, where in RULES if "L" in where and number not in RUN_TIME_ONLY]


@pytest.mark.parametrize(("number", "name", "where"), RULES)
def test_every_rule_is_explained(hookwatch, root, number, name, where):
    page = (root / "docs" / "rules" / f"HW{number}.md").read_text()
    for word in (f"HW{number}", name, f"hw{number}"):
        run = subprocess.run([hookwatch, "explain", word], capture_output=True, text=True, timeout=20)
        assert run.returncode == 0 and run.stdout == page
    assert page.startswith(f"# HW{number} {name}\n")
    assert re.findall(r"^## (.*)$", page, re.M) == ["What", "Why", "Wrong", "Right", "How to allow"]
    sections = re.split(r"^## .*$", page, flags=re.M)[1:]
    assert all(len(section.strip()) > 20 for section in sections)


def test_sarif_has_help_for_every_rule(project):
    project.write("a.py", "x = 1\n")
    (run,) = json.loads(project.run("--output-format", "sarif", ".").stdout)["runs"]
    helps = {rule["id"]: rule["help"] for rule in run["tool"]["driver"]["rules"]}
    assert set(helps) == {f"HW{number}" for number, _, _ in RULES}
    assert all(text["text"] == text["markdown"] and text["markdown"].startswith(f"# {code} ") for code, text in helps.items())


def test_explain_lists_rules_and_names_the_nearest(hookwatch):
    run = subprocess.run([hookwatch, "explain"], capture_output=True, text=True, timeout=20)
    assert [line.split()[0] for line in run.stdout.splitlines()] == [f"HW{number}" for number, _, _ in RULES]
    run = subprocess.run([hookwatch, "explain", "HW10l"], capture_output=True, text=True, timeout=20)
    assert run.returncode == 2 and "`HW101`" in run.stderr and run.stderr.count("\n") == 1


def marked(text):
    """Marks: `#! HW101` for the line it stands on, `#!2 HW308` for the second line below."""
    return {
        (row + int(below or 0), code)
        for row, line in enumerate(text.splitlines(), 1)
        for below, codes in re.findall(r"#!(\d?)((?: HW\d+)+)", line)
        for code in codes.split()
    }


@pytest.mark.parametrize("number", LINTED)
@pytest.mark.parametrize("kind", ["bad", "good"])
def test_fixture(project, number, kind):
    text = (FIXTURES / f"HW{number}_{kind}.py").read_text()
    wanted = marked(text)
    assert any(code == f"HW{number}" for _, code in wanted) == (kind == "bad")
    project.write("a.py", text)
    assert {(row, code) for _, row, code in project.lines()} == wanted


def test_no_fixture_is_left_over():
    assert {path.name for path in FIXTURES.glob("*.py")} == {f"HW{number}_{kind}.py" for number in LINTED for kind in ("bad", "good")}
