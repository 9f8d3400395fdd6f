"""The lint cases, line by line: every label of every expected.tsv, but for the lines listed as not yet right."""

import csv
import json
import pathlib
import subprocess

import pytest

CASES = pathlib.Path(__file__).resolve().parent / "cases"

# Labelled lines that are not right yet: {(case, file, line): the code wanted}. One that becomes right must leave this list.
NOT_YET = {}


def lint(hookwatch, case):
    """Failing findings of a case: {(file, row): codes}."""
    run = subprocess.run([hookwatch, "lint", "--output-format", "json", "."], cwd=case, capture_output=True, text=True, timeout=60)
    assert run.returncode in (0, 1), run.stderr
    found = {}
    for finding in json.loads(run.stdout):
        if finding["severity"] != "note" and not finding["allowed"]:
            where = pathlib.Path(finding["filename"]).relative_to(case.resolve()).as_posix()
            found.setdefault((where, finding["location"]["row"]), set()).add(finding["code"])
    return found


def labels(case):
    with (case / "expected.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield row["file"], int(row["line"]), row["verdict"], set(row["code"].split("|")), row["why"]


@pytest.mark.parametrize("case", sorted(CASES.glob("*/")), ids=lambda case: case.name)
def test_case(hookwatch, case):
    found, labelled, wrong = lint(hookwatch, case), set(), []
    for file, line, verdict, codes, why in labels(case):
        labelled.add((file, line))
        got = found.get((file, line), set())
        right = bool(got & codes) if verdict == "flag" else not got
        key = (case.name, file, line)
        if right and key in NOT_YET:
            wrong.append(f"{file}:{line} is right now: take it off NOT_YET")
        elif not right and key not in NOT_YET:
            wrong.append(f"{file}:{line} {verdict} {sorted(codes)}, got {sorted(got)}: {why}")
    wrong += [f"{file}:{line} is not labelled, got {sorted(codes)}" for (file, line), codes in found.items() if (file, line) not in labelled]
    assert not wrong, "\n".join(wrong)


def test_not_yet_names_real_lines(capsys):
    known = {(case.name, file, line) for case in CASES.glob("*/") for file, line, *_ in labels(case)}
    assert set(NOT_YET) <= known
    with capsys.disabled():
        print(f"[{len(NOT_YET)} of {len(known)} labelled lines not yet right]", end=" ")
