"""README, CONTRIBUTING and the rule pages say what is there: pages are complete, links lead somewhere, commands and options exist."""

import re
import subprocess

import pytest

HEADINGS = ["## What", "## Why", "## Wrong", "## Right", "## How to allow"]


def catalogue(root):
    """{code: name} of core/rules.def."""
    rows = re.findall(r'^HW_RULE\((\d+), "([^"]+)"', (root / "core/rules.def").read_text(), re.M)
    return {f"HW{number}": name for number, name in rows}


def shell_lines(text):
    """Commands of the ```sh blocks, without comments."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            yield line.split(" #")[0].strip()


def test_rule_pages(root):
    pages = sorted((root / "docs/rules").glob("*.md"))
    assert pages
    for page in pages:
        lines = page.read_text().splitlines()
        code, name = lines[0].removeprefix("# ").split(" ")
        assert code == page.stem
        assert catalogue(root)[code] == name
        assert [line for line in lines if line.startswith("## ")] == HEADINGS, page
        allowed = f"# hookwatch: allow {code} -- " in page.read_text()
        assert allowed or "## How to allow\n\nNot by a directive" in page.read_text(), page


def test_readme_rules_have_pages(root):
    named = re.findall(r"^\| (HW\d+) \|.*\[([a-z-]+)\]\((docs/rules/HW\d+\.md)\)", (root / "README.md").read_text(), re.M)
    assert named
    for code, name, page in named:
        assert catalogue(root)[code] == name
        assert page == f"docs/rules/{code}.md" and (root / page).is_file()


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_links(root, document):
    for target in re.findall(r"\]\(([^)#]+)\)", (root / document).read_text()):
        assert target.startswith("https://") or (root / target).exists(), target


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_make_targets_and_scripts(root, document):
    commands = [command for line in shell_lines((root / document).read_text()) for command in line.split(" && ")]
    assert commands
    for command in commands:
        words = command.split()
        if words[0] == "make":
            asked = [word for word in words[1:] if word.isalpha()]
            done = subprocess.run(["make", "-n", *asked], cwd=root, capture_output=True, text=True)
            assert "No rule to make target" not in done.stderr, command
        elif words[0].startswith(("scripts/", ".ci/")):
            assert (root / words[0]).stat().st_mode & 0o111, command


def test_hookwatch_commands(root, hookwatch):
    used = set()
    for line in shell_lines((root / "README.md").read_text()):
        if line.startswith("hookwatch "):
            command, *words = line.split()[1:]
            for word in words:
                if word == "--":
                    break
                if word.startswith("-"):
                    used.add((command, word))
    assert {command for command, _ in used} >= {"lint", "run", "report"}
    for command, option in sorted(used):
        done = subprocess.run([hookwatch, command, "--help"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert re.search(rf"(^|[\s,\[|]){re.escape(option)}\b", done.stdout), f"{command} --help does not name {option}"
