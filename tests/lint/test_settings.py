"""The configuration: TOML as Python reads it, keys that are checked, and what each key does."""

import json
import subprocess
import tomllib

import pytest

HOOK = "def _make_a_hook(s):\n    def hook(m, i, o):\n        s.add(o.item())\n    return hook\n"


def settings(project, text, name="hookwatch.toml"):
    (project.root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    run = project.run("--show-settings", ".")
    return run, json.loads(run.stdout) if run.returncode == 0 else None


SAME = [
    'select = ["HW1", "HW201",]\nignore=[ # c\n "HW101" , # d\n]',
    "exclude = ['a\\b', \"q\\\"\\u00e9\\U0001F600\\t\", '''x\ny''', \"\"\"\nz \\\n   w\"\"\"]",
    '"exclude" = ["x"]',
    "'hook-roots' = [\"a.*\"]",
    '"\\u0065xclude" = ["x"]',
    '[per-file-ignores]\n"scripts/*" = ["HW1"]\n\'a b\' = []\nplain-1_2 = ["HW901"]',
    'per-file-ignores = {"a.py" = ["HW1"], b = ["HW2"]}',
    'per-file-ignores.x = ["HW1"]\nper-file-ignores.y = ["HW2"]',
    'test-files = "error"\r\ncollective-justification = "comment"\r\n',
    "exclude = []",
]


@pytest.mark.parametrize("text", SAME)
def test_values_are_those_that_python_reads(project, text):
    run, got = settings(project, text)
    assert run.returncode == 0, run.stderr
    for key, value in tomllib.loads(text).items():
        assert got[key] == value


# Any TOML at all, beside our own table: right or wrong exactly where Python says so.
DOCUMENTS = [
    "a = 1\nb = -0\nc = +1_000\nd = 0xDEAD_beef\ne = 0o17\nf = 0b1_0",
    "a = 01",
    "a = 1__0",
    "a = 1_",
    "a = 0x_1",
    "a = 1.5\nb = 1e3\nc = -1.5E-3\nd = inf\ne = -nan",
    "a = 1.",
    "a = .5",
    "a = true\nb = false",
    "a = True",
    "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5-07:00\nc = 1979-05-27\nd = 07:32:00.999",
    "a = 1979-13-27",
    "a = 2023-02-29",
    "a = 2024-02-29",
    "a = 25:00:00",
    "a = 1979-05-27T07:32:00+24:00",
    'a = "\\x41"',
    'a = "\\uD800"',
    'a = "\\U00110000"',
    'a = "\\u12"',
    'a = "b\nc"',
    "a = 'b\nc'",
    'a = """b\nc\\\n  d"""',
    "a = '''b\nc'''",
    'a = """"q"""""',
    "a = '''z''''''",
    "a = '''z'''''",
    'a = """l\\ \t\n  m"""',
    'a = "\t"',
    'a = "\x01"',
    "a = 1\n# \x02",
    "a = 1\na = 2",
    "a.b = 1\na.c = 2",
    "a.b = 1\na.b.c = 2",
    "a = 1\na.b = 2",
    "[a]\nb = 1\n[a]\nc = 2",
    "[a]\nb = 1\n[a.b]\nc = 2",
    "[a.b.c]\nx = 1\n[a]\ny = 2",
    "[a]\nb.c = 1\n[a.b]\nd = 2",
    "[a]\nb.c = 1\n[a.b.d]\ne = 2",
    "[a.b]\nc = 1\n[a]\nb.d = 2",
    "[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 1",
    "[[a]]\n[a]",
    "[a]\n[[a]]",
    "a = []\n[[a]]",
    "a = [1]\n[a.b]",
    "[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]",
    "[[a]]\n[a.b]\n[[a]]\n[a.b]",
    "a = {b = 1, c.d = 2}",
    "a = {b = 1, b = 2}",
    "a = {b = 1, b.c = 2}",
    "a = {b = 1}\na.c = 2",
    "a = {b = 1}\n[a.c]",
    "a = {b = {c = 1}, b.d = 2}",
    "a = {b = 1,}",
    "a = {\nb = 1}",
    "a = [1, 'x', [2, [3]], {b = 1},\n # c\n]",
    "a = [1 2]",
    "a = [,]",
    "a =",
    "= 1",
    "a",
    "[a",
    "[a]]",
    "[]",
    "a = 1 b = 2",
    '"" = 1',
    "'' = 1\n\"\" = 2",
    '"a.b" = 1\na.b = 2',
    "1.2 = 3",
    "a . b = 1",
    "é = 1",
    '"é" = 1',
    '"""a""" = 1',
    "a\r\n= 1",
    "a = 1\rb = 2",
    "tool.hookwatch.exclude = ['x']",
    "\ufeffa = 1",
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_a_document_is_right_where_python_says_so(project, text):
    (project.root / "hookwatch.toml").unlink()
    text = text + "\n[tool.hookwatch]\nselect = ['HW1']\n"
    try:
        tomllib.loads(text.removeprefix("\ufeff"))  # a byte order mark is let pass
        right = True
    except tomllib.TOMLDecodeError:
        right = False
    run, _ = settings(project, text, "pyproject.toml")
    assert run.returncode == (0 if right else 2), run.stderr
    if not right:
        assert run.stderr.count("\n") == 1 and f"{project.root.resolve()}/pyproject.toml:" in run.stderr


def test_bytes_that_are_no_text(project):
    for text in (b"a = '\xff'\n", b"a = '\0'\n", b"[" * 5000, b"a = " + b"[" * 5000 + b"]" * 5000):
        run, _ = settings(project, text)
        assert run.returncode == 2 and run.stderr.count("\n") == 1, run.stderr


@pytest.mark.parametrize(
    ("text", "row", "words"),
    [
        ('\nselekt = ["HW1"]', 2, ["`selekt`", "`select`"]),
        ('testfiles = "note"', 1, ["`test-files`"]),
        ('hook_roots = ["x"]', 1, ["`hook-roots`"]),
        ('select = "HW1"', 1, ["list"]),
        ('select = [\n"HW1",\n"E501"]', 3, ["E501"]),
        ("exclude = [1]", 1, ["strings"]),
        ('exclude = [""]', 1, ["strings"]),
        ('test-files = "warn"', 1, ["note", "error"]),
        ("collective-justification = true", 1, ["directive", "comment"]),
        ('per-file-ignores = ["x"]', 1, ["table"]),
        ('per-file-ignores.a = "HW1"', 1, ["list"]),
        ("[lint]\nselect = []", 1, ["`lint`"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_place(project, text, row, words):
    project.write("a.py", HOOK)
    (project.root / "hookwatch.toml").write_text(text)
    run = project.run("a.py")
    assert run.returncode == 2 and run.stderr.count("\n") == 1 and run.stdout == ""
    assert run.stderr.startswith(f"hookwatch: {project.root.resolve()}/hookwatch.toml:{row}: ")
    for word in words:
        assert word in run.stderr


def test_nearest_configuration_wins_and_tools_of_others_are_none(project):
    project.write("pyproject.toml", "[tool.hookwatch]\nignore = ['HW101']\n")  # hookwatch.toml beside it wins
    project.write("a.py", HOOK)
    project.write("sub/pyproject.toml", "[tool.hookwatch]\nignore = ['HW101']\n")
    project.write("sub/b.py", HOOK)
    project.write("sub/deep/pyproject.toml", "[tool.other]\nx = 1\n")
    project.write("sub/deep/c.py", HOOK)
    assert project.lines() == [("a.py", 3, "HW101")]
    assert project.lines("--config", "sub/pyproject.toml", ".") == []
    run = project.run("--config", "sub/deep/pyproject.toml", ".")
    assert run.returncode == 2 and "[tool.hookwatch]" in run.stderr


def test_selection(project):
    project.write("a.py", HOOK.replace("o.item()", "o.item(), o.cpu()"))
    project.write("scripts/b.py", HOOK)
    for text, want in [
        ('select = ["HW102"]', [("a.py", 3, "HW102")]),
        ('ignore = ["HW101"]', [("a.py", 3, "HW102")]),
        ('select = ["HW1"]\nignore = ["HW102"]', [("a.py", 3, "HW101"), ("scripts/b.py", 3, "HW101")]),
        ('[per-file-ignores]\n"scripts/*" = ["HW1"]\n"a.py" = ["HW101"]', [("a.py", 3, "HW102")]),
        ('[per-file-ignores]\nscripts = ["HW"]', [("a.py", 3, "HW101"), ("a.py", 3, "HW102")]),
    ]:
        (project.root / "hookwatch.toml").write_text(text)
        assert project.lines() == want, text
    # the command line stands in for the configuration
    assert project.lines("--select", "HW102", ".") == [("a.py", 3, "HW102")]


def test_exclude(project):
    project.write("hookwatch.toml", 'exclude = ["gen/**", "*_pb2.py", "old"]\n')
    for name in ("gen/a.py", "x/b_pb2.py", "y/old/c.py", "z/d.py"):
        project.write(name, HOOK)
    assert project.lines() == [("z/d.py", 3, "HW101")]
    assert project.lines("gen/a.py", "z/d.py") == [("gen/a.py", 3, "HW101"), ("z/d.py", 3, "HW101")]
    assert project.lines("--force-exclude", "gen/a.py", "z/d.py") == [("z/d.py", 3, "HW101")]
    run = project.run("--force-exclude", "gen/a.py")
    assert run.returncode == 0 and "no findings" in run.stdout


def test_what_is_hot_cold_or_a_wrapper(project):
    project.write("plain.py", "def fast_forward(self, x):\n    return x.item()\n\ndef cold(t):\n    return t.item()\n\ndef rate(x, n: int):\n    return float(n)\n")
    project.write("a.py", "from plain import cold\nfrom elsewhere import attach\n\ndef show(m, i, o):\n    cold(o), o.cpu()\n\nattach('x', show)\n")
    project.write("hook.py", HOOK)
    assert project.lines() == [("hook.py", 3, "HW101")]
    (project.root / "hookwatch.toml").write_text('wrappers = ["attach"]\n')
    assert project.lines() == [("a.py", 5, "HW102"), ("hook.py", 3, "HW101"), ("plain.py", 5, "HW101")]
    (project.root / "hookwatch.toml").write_text('wrappers = ["attach"]\ncold = ["cold"]\n')
    assert project.lines() == [("a.py", 5, "HW102"), ("hook.py", 3, "HW101")]
    (project.root / "hookwatch.toml").write_text('hot-functions = ["fast_forward", "rate"]\nframeworks = ["hook.py", "*/hook.py"]\n')
    assert project.lines() == [("plain.py", 2, "HW101")]
    (project.root / "hookwatch.toml").write_text('hook-roots = ["show"]\n')
    assert project.lines() == [("a.py", 5, "HW102"), ("plain.py", 5, "HW101")]


def test_python_path(project):
    project.write("lib/tools/read.py", "def read(t):\n    return t.item()\n")
    project.write("app/a.py", "from tools.read import read\n\ndef _make_a_hook():\n    def hook(m, i, o):\n        read(o)\n    return hook\n")
    assert project.lines("app/a.py") == []
    (project.root / "hookwatch.toml").write_text('python-path = ["lib"]\n')
    assert project.lines("app/a.py") == [("lib/tools/read.py", 2, "HW101")]


def git(project, *args):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], cwd=project.root, check=True, capture_output=True)


def test_git_says_which_files_there_are(project):
    git(project, "init", "-q")
    for name in ("tracked.py", "new.py", "ignored.py", "out/made.py", "gone.py"):
        project.write(name, HOOK)
    project.write(".gitignore", "ignored.py\nout/\n")
    git(project, "add", "tracked.py", "gone.py")
    (project.root / "gone.py").unlink()
    assert project.lines() == [("new.py", 3, "HW101"), ("tracked.py", 3, "HW101")]
    # what is named is read though git ignores it
    assert project.lines("ignored.py", "out") == [("ignored.py", 3, "HW101"), ("out/made.py", 3, "HW101")]


def test_a_hook_in_a_file_that_is_not_named_reaches_one_that_is(project):
    (project.root / "hookwatch.toml").unlink()
    git(project, "init", "-q")
    project.write("pkg/util.py", "def read(t):\n    return t.item()\n")
    project.write("mon.py", "from pkg.util import read\n\ndef _make_a_hook():\n    def hook(m, i, o):\n        read(o)\n        o.cpu()\n    return hook\n")
    project.write("pkg/other.py", HOOK)
    assert project.lines("pkg/util.py") == [("pkg/util.py", 2, "HW101")]
    (finding,) = project.lint("pkg/util.py")
    assert [step["filename"].rsplit("/", 1)[1] for step in finding["witness"]] == ["mon.py", "util.py"]
    run = project.run("pkg/util.py", "--output-format", "text")
    assert run.returncode == 1


def test_batches_of_any_cut_find_the_same(project):
    (project.root / "hookwatch.toml").unlink()
    git(project, "init", "-q")
    project.write("util.py", "def read(t):\n    return deep(t)\n\ndef deep(t):\n    return t.item()\n")
    names = [f"m{i}.py" for i in range(9)]
    for i, name in enumerate(names):
        body = f"from util import read\nfrom m{(i + 1) % 9} import help{(i + 1) % 9}\n\ndef help{i}(t):\n    return t.cpu()\n\n"
        project.write(name, body + "def _make_a_hook(s):\n    def hook(m, i, o):\n" + f"        read(o), help{(i + 1) % 9}(o)\n    return hook\n")
    names.append("util.py")
    whole = project.lines()
    assert len(whole) == 10
    assert project.lines(*names) == project.lines(*reversed(names)) == project.lines(*names[3:], *names[:3]) == whole
    assert sorted({line for name in names for line in project.lines(name)}) == whole
    assert sorted({line for at in range(0, 10, 3) for line in project.lines(*names[at : at + 3])}) == whole
