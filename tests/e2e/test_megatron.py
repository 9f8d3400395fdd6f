"""Megatron's own hooks do their work, which includes collectives: counted as framework, never blamed."""


def test_nothing_is_blamed(simulate, report, root, tmp_path):
    done = simulate(tmp_path / "out", root / "tests/e2e/megatron_moe.py")
    assert "loss " in done.stdout
    answer = report(tmp_path / "out")
    assert [f for f in answer["findings"] if f["severity"] != "note"] == []
    assert answer["totals"]["framework"]["collectives"] > 0
    assert answer["totals"]["in_hook"]["waits"] == 0


def test_a_probe_beside_it_is(simulate, report, root, tmp_path):
    simulate(tmp_path / "out", root / "tests/e2e/megatron_moe.py", "probe")
    blamed = [f for f in report(tmp_path / "out")["findings"] if f["severity"] != "note"]
    assert [(f["code"], f["hook"], f["count"]) for f in blamed] == [("HW101", "_make_probe_hook.<locals>.hook", 2)]
