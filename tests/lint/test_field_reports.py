"""Shapes that people reported from their training code, re-expressed; each test says what they ran into."""

import json


def places(project):
    return [(f["location"]["row"], f["location"]["column"], f["code"]) for f in project.lint()]


def test_slicing_by_device_offsets_is_three_waits(project):
    line = "            part = loss[cu[i]:cu[i + 1]]; sel = part[mask[i]]"
    project.write(
        "a.py",
        "def _make_doc_hook(n, sink):\n    def hook(m, i, loss):\n        cu = loss.cumsum(0)\n        mask = loss > 0\n"
        f"        for i in range(n):\n{line}\n            sink.append(sel)\n    return hook\n",
    )
    want = [line.index("cu[i]") + 1, line.index("cu[i + 1]") + 1, line.index("mask") + 1]
    assert [(row, column) for row, column, _ in places(project)] == [(6, column) for column in want]
    assert [code for _, _, code in places(project)] == ["HW101", "HW101", "HW104"]


def test_a_debug_message_costs_by_what_it_evaluates(project):
    project.write(
        "a.py",
        "import logging\n\nlog = logging.getLogger(__name__)\n\ndef _make_x_hook():\n    def hook(m, i, o):\n"
        '        log.debug(f"l={o.item()}")\n        log.debug("l=%s", o.detach())\n        log.debug("l=%s", o.shape)\n'
        '        logging.debug("l=%s", o)\n    return hook\n',
    )
    found = [(f["location"]["row"], f["code"], f["severity"]) for f in project.lint()]
    assert found == [(7, "HW101", "error"), (8, "HW105", "warning"), (10, "HW105", "warning")]


def test_one_of_two_waits_is_kept_with_its_reason(project):
    text = (
        "def _make_loss_hook(sink, step):\n    def hook(m, i, loss):\n        n = loss.count_nonzero()\n"
        "        if n == 0:\n            return\n        for at in range(0, n, step):\n            sink.append(at)\n    return hook\n"
    )
    project.write("a.py", text)
    assert [(row, code) for row, _, code in places(project)] == [(4, "HW103"), (6, "HW101")]
    project.write("a.py", text.replace("step):\n            sink", "step):  # hookwatch: allow HW101 -- measured\n            sink"))
    assert [(row, code) for row, _, code in places(project)] == [(4, "HW103")]
    log = json.loads(project.run("--output-format", "sarif", "--show-allowed", ".").stdout)
    kept = [r["suppressions"][0]["justification"] for r in log["runs"][0]["results"] if r.get("suppressions")]
    assert kept == ["measured"]


def test_two_uploads_in_a_row_are_two_findings(project):
    project.write(
        "a.py",
        "import torch\n\ndef _make_x_hook(rows):\n    def hook(m, i, o):\n        a = torch.tensor([1, 2], device=o.device)\n"
        "        b = torch.as_tensor(rows, device='cuda')\n        return a + b\n    return hook\n",
    )
    assert [(row, code) for row, _, code in places(project)] == [(5, "HW107"), (6, "HW107")]


def test_clipping_branches_on_device_values(project):
    project.write(
        "a.py",
        "def clip(p, c):\n    norm = p.grad.norm()\n    if norm.isnan() or norm.isinf():\n        return\n    coef = c / norm\n"
        "    if coef < 1:\n        p.grad.mul_(coef)\n    p.grad.mul_(coef.clamp(max=1.0))\n\n"
        "def go(p):\n    p.register_post_accumulate_grad_hook(lambda p: clip(p, 1.0))\n",
    )
    assert [(row, code) for row, _, code in places(project)] == [(3, "HW103"), (3, "HW103"), (6, "HW103")]


def test_metadata_of_a_printed_tensor_is_free(project):
    project.write(
        "a.py",
        "def _make_x_hook():\n    def hook(m, i, loss):\n        print(loss)\n        print(f'{loss}')\n"
        "        print(loss.shape, loss.dtype, loss.device)\n    return hook\n",
    )
    assert [(row, code) for row, _, code in places(project)] == [(3, "HW105"), (4, "HW105")]
