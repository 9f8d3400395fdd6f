"""Any bytes, any tree of files: right columns and lines, one clear line where something cannot be read, never a crash."""

import os

import pytest

HOOK = "def _make_a_hook(s):\n    def hook(m, i, o):\n        s.add(o.item())\n    return hook\n"


def test_byte_order_mark_and_cookie(project):
    project.write("plain.py", HOOK)
    plain = project.lines("plain.py")
    project.write("bom.py", b"\xef\xbb\xbf" + HOOK.encode())
    project.write("cookie.py", b"\xef\xbb\xbf# -*- coding: utf-8 -*-\n" + HOOK.encode())
    assert [row for _, row, _ in plain] == [3]
    first = project.lint("bom.py")[0]["location"]
    assert first == project.lint("plain.py")[0]["location"]
    assert project.lint("cookie.py")[0]["location"] == {"row": 4, "column": first["column"]}


def test_columns_count_code_points_in_any_encoding(project):
    line = '    """é"""; s.add(o.item())\n'
    text = "def _make_a_hook(s):\n  def hook(m, i, o):\n" + line + "  return hook\n"
    project.write("utf8.py", text.encode())
    project.write("latin.py", ("# coding: latin-1\n" + text).encode("latin-1"))
    project.write("sjis.py", ("# vim: set fileencoding=shift_jis :\n" + text.replace("é", "日")).encode("shift_jis"))
    want = line.index("item") + 1
    for name in ("utf8.py", "latin.py", "sjis.py"):
        assert project.lint(name)[0]["location"]["column"] == want, name


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_line_endings_form_feeds_and_tabs(project, ending):
    text = "\f\ndef _make_a_hook(s):\n\tdef hook(m, i, o):\n\t\ts.add(o.item())\n\treturn hook\n".replace("\n", ending)
    project.write("a.py", text.encode())
    assert project.lint("a.py")[0]["location"] == {"row": 4, "column": 11}


def test_bytes_that_are_no_utf8_do_not_hide_a_hook(project):
    project.write("bad.py", b"# \xff\xfe\x80 caf\xe9\n" + HOOK.encode())
    assert project.lines("bad.py") == [("bad.py", 4, "HW101")]
    for form in ("text", "sarif", "junit", "gitlab", "github"):
        project.run("--output-format", form, "bad.py", text=False).stdout.decode("utf-8")


def test_nul_bytes_do_not_end_the_file(project):
    project.write("nul.py", b"x = '\0'\n" + HOOK.encode())
    assert ("nul.py", 4, "HW101") in project.lines("nul.py")


def test_long_line_is_cut_around_the_token(project):
    line = "        " + "; ".join("a%d = 1" % i for i in range(20000)) + "; s.add(o.item())\n"
    project.write("long.py", "def _make_a_hook(s):\n    def hook(m, i, o):\n" + line + "    return hook\n")
    text = project.run("long.py").stdout
    assert "s.add(o.item())" in text and max(map(len, text.splitlines())) < 200


def test_deep_nesting_is_reported_not_followed(project):
    deep = "(" * 5000 + "o.item()" + ")" * 5000
    project.write("deep.py", f"def _make_a_hook(s):\n    def hook(m, i, o):\n        s.add({deep})\n    return hook\n")
    assert project.lines("deep.py") == [("deep.py", 3, "HW901")]
    nested = "".join("    " * (i + 2) + "if s:\n" for i in range(300)) + "    " * 302 + "s.add(o.item())\n"
    project.write("ifs.py", f"def _make_a_hook(s):\n    def hook(m, i, o):\n{nested}    return hook\n")
    assert [code for _, _, code in project.lines("ifs.py")] == ["HW901"]


def test_long_sums_and_long_call_chains(project):
    total = " + ".join(["o"] * 4000)
    project.write("sum.py", f"def _make_a_hook(s):\n    def hook(m, i, o):\n        s.add(float({total}))\n    return hook\n")
    assert [code for _, _, code in project.lines("sum.py")] in (["HW101"], ["HW901"])
    chain = "".join(f"def f{i}(t):\n    return f{i + 1}(t)\n" for i in range(60)) + "def f60(t):\n    return t.item()\n"
    project.write("chain.py", chain + "def _make_a_hook(s):\n    def hook(m, i, o):\n        s.add(f0(o))\n    return hook\n")
    ((_, _, code),) = project.lines("chain.py")
    assert code == "HW901"


def test_recursion_ends(project):
    project.write(
        "rec.py",
        """
        def even(t, n):
            return t if n == 0 else odd(t, n - 1)

        def odd(t, n):
            return even([t, t], n - 1).item()

        def _make_a_hook(s):
            def hook(m, i, o):
                s.add(even(o, 4))
            return hook
        """,
    )
    assert project.lines("rec.py") == [("rec.py", 6, "HW101")]


def test_import_cycles_end(project):
    project.write("a.py", "from b import g\n\ndef f(t):\n    return g(t)\n\n" + HOOK.replace("o.item()", "f(o)"))
    project.write("b.py", "from a import f\n\ndef g(t):\n    return t.item() if g else f(t).cpu()\n")
    assert project.lines() == [("b.py", 4, "HW101"), ("b.py", 4, "HW102")]


def test_empty_files_and_folders(project):
    project.write("empty.py", b"")
    project.write("blank.py", b"\n\n   \n\t\n\f")
    (project.root / "sub" / "x.py").mkdir(parents=True)
    project.write("sub/x.py/hooks.py", HOOK)
    assert project.lines() == [("sub/x.py/hooks.py", 3, "HW101")]
    assert project.lines("sub/x.py") == [("sub/x.py/hooks.py", 3, "HW101")]


def test_link_loops_and_odd_files(project):
    project.write("real/a.py", HOOK)
    (project.root / "real" / "loop").symlink_to(project.root, target_is_directory=True)
    (project.root / "again.py").symlink_to(project.root / "real" / "a.py")
    (project.root / "dangling.py").symlink_to(project.root / "nothing.py")
    os.mkfifo(project.root / "pipe.py")
    assert project.lines() == [("real/a.py", 3, "HW101")]
    for name in ("dangling.py", "pipe.py"):
        run = project.run(name)
        assert run.returncode == 2 and run.stderr.count("\n") == 1 and name in run.stderr


def test_hidden_and_build_folders_are_skipped_unless_named(project):
    for folder in (".venv", "build", "__pycache__", "src"):
        project.write(f"{folder}/a.py", HOOK)
    assert project.lines() == [("src/a.py", 3, "HW101")]
    assert project.lines("build") == [("build/a.py", 3, "HW101")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable_file(project):
    project.write("a.py", HOOK).chmod(0)
    run = project.run(".")
    assert run.returncode == 2 and "a.py" in run.stderr and run.stderr.count("\n") == 1
