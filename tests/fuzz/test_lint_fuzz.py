"""The linter on broken input: random bytes, truncated and spliced files. Exit status 0 or 1, nothing on stderr, in bounded time.

HOOKWATCH_FUZZ_FILES sets how many files (default 10,000), HOOKWATCH_FUZZ_SEED where the sequence starts; a failing batch
prints its seed."""

import json
import os
import pathlib
import random
import subprocess

import pytest

FILES = int(os.environ.get("HOOKWATCH_FUZZ_FILES", "10000"))
SEED = int(os.environ.get("HOOKWATCH_FUZZ_SEED", "1"))
BATCH = 500

CORPUS = [path.read_bytes() for path in sorted(pathlib.Path(__file__).resolve().parent.parent.glob("lint/cases/**/*.py"))]
PIECES = [
    b"(", b")", b"[", b"{", b"}", b":", b"\\\n", b"\n", b"\r\n", b"\t", b"    ", b"\f", b"\0", b"'", b'"""', b"f'{", b"}'", b"#", b"*", b"**",
    b"@", b"lambda ", b"def ", b"class ", b"if ", b"else:", b"for x in ", b"while ", b"with ", b"try:", b"except*", b"match x:\n case ", b"yield ",
    b"await ", b"return ", b"import ", b"from . import *\n", b"global x", b":=", b"->", b"o.item()", b"hook", b"self.", b"super().", b"print ",
    b"# hookwatch: allow ", b"# hookwatch: allow HW201 max=9KiB -- r\n", b"\xff\xfe", b"\xef\xbb\xbf", "日😀".encode(), b"0x", b"1e999", b"type X = ",
]  # fmt: skip


def mutate(rng):
    kind = rng.randrange(5)
    if kind == 0:
        return rng.randbytes(rng.randrange(2000)) + b"hook"
    text = rng.choice(CORPUS)
    if kind == 1:  # truncated
        return text[: rng.randrange(len(text) + 1)] + b"  # hook"
    if kind == 2:  # two halves of two files
        other = rng.choice(CORPUS)
        return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]
    out = bytearray(text)
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(out) + 1)
        if kind == 3:  # pieces put in
            out[at:at] = rng.choice(PIECES)
        else:  # ranges taken out, or said again
            end = min(len(out), at + rng.randrange(40))
            out[at:end] = b"" if rng.random() < 0.5 else bytes(out[at:end]) * 2
    return bytes(out)


@pytest.mark.parametrize("batch", range((FILES + BATCH - 1) // BATCH))
def test_broken_files(hookwatch, tmp_path, batch):
    rng = random.Random(SEED * 1_000_003 + batch)
    (tmp_path / "hookwatch.toml").write_text("")
    for i in range(BATCH):
        (tmp_path / f"f{i:03}.py").write_bytes(mutate(rng))
    form = ["json", "text", "sarif", "junit"][batch % 4]
    run = subprocess.run([hookwatch, "lint", "--output-format", form, "."], cwd=tmp_path, capture_output=True, timeout=120)
    assert run.returncode in (0, 1) and run.stderr == b"", f"seed {SEED} batch {batch}: {run.returncode}\n{run.stderr.decode()[:4000]}"
    if form in ("json", "sarif"):
        json.loads(run.stdout)
