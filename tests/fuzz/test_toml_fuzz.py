"""Configurations of mutated text: never a crash, one line where they are wrong, and wrong exactly where Python says so.

HOOKWATCH_FUZZ_SEED sets where the sequence starts; HOOKWATCH_FUZZ_TOML how many texts (default 400)."""

import os
import random
import subprocess
import tomllib

SEED = int(os.environ.get("HOOKWATCH_FUZZ_SEED", "1"))
TEXTS = int(os.environ.get("HOOKWATCH_FUZZ_TOML", "400"))

SEEDS = [
    'a = 1\nb.c = [1, "x", {d = 2.5e3}]\n[e]\nf = \'g\'\n[[h]]\ni = 1979-05-27T07:32:00Z\n[h.j]\nk = """l\\\n  m"""\n',
    "[a.b.c]\nx = 0x1F\n[a]\ny = true\n[a.d]\n'quoted key' = '''z'''\n\"\\u00e9\" = -inf\n",
    "[[p]]\nn = 1\n[[p.q]]\nr = [[], [[]]]\n[[p]]\n[s.t]\nu.v.w = {x = {y = {}}}\n",
]
PIECES = ["[", "]", "[[", "]]", "{", "}", "=", ".", ",", '"', "'", '"""', "'''", "\\", "\\u12", "#", "\n", "\r\n", " ", "\t", "a", "a.b", "1", "_", "0", "e", "-", "+", "é", "true", "inf", "07:32:00"]


def mutate(rng):
    text = rng.choice(SEEDS)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice([0, 0, 1, 3]))
        text = text[:at] + rng.choice(PIECES) * rng.randrange(2) + text[end:]
    return text


def test_mutated_configurations(hookwatch, tmp_path):
    rng = random.Random(SEED)
    for number in range(TEXTS):
        text = mutate(rng) + "\n[tool.hookwatch]\n"
        (tmp_path / "pyproject.toml").write_bytes(text.encode())
        try:
            tomllib.loads(text)
            right = True
        except tomllib.TOMLDecodeError:
            right = False
        run = subprocess.run([hookwatch, "lint", "--show-settings", "."], cwd=tmp_path, capture_output=True, text=True, timeout=20)
        assert run.returncode == (0 if right else 2), f"seed {SEED} text {number}: {text!r} {run.stderr}"
        assert run.stderr.count("\n") == (0 if right else 1)
