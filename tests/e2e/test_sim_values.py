"""Value mode: right numbers, and no silence where there are none."""

from sim_environment import run


def test_against_the_cpu(build, torch_python, root):
    done = run(build, torch_python, root / "tests/e2e/sim_values.py")
    assert done.stdout == "ok\n"
    assert "no value" not in done.stderr


MODE = "import ctypes; print(ctypes.CDLL(None).hw_sim_mode())"


def test_without_values_everything_is_zero(build, torch_python):
    code = "import torch; x = torch.arange(4.).cuda(); print((x + 1).tolist(), x.sum().item(), x.tolist()); " + MODE
    done = run(build, torch_python, "-c", code, values=False)
    assert done.stdout == "[0.0, 0.0, 0.0, 0.0] 0.0 [0.0, 1.0, 2.0, 3.0]\n1\n"


def test_what_has_no_value_is_named_once(build, torch_python):
    """An operator the CPU lacks, a kernel outside any operator, a graph."""
    code = """
import ctypes, torch
layer, x = torch.nn.Linear(4, 4).cuda(), torch.ones(2, 4).cuda()
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    layer(x)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    layer(x)
driver = ctypes.CDLL("libcuda.so.1")
kernel = ctypes.c_void_p()
driver.cuModuleGetFunction(ctypes.byref(kernel), None, b"own_kernel")
for _ in range(2):
    torch.ops.aten._convert_weight_to_int4pack(torch.zeros(8, 128, dtype=torch.uint8, device="cuda"), 8)
    driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)
    graph.replay()
counts = (ctypes.c_uint64 * 32)()
ctypes.CDLL(None).hw_sim_counts(counts)
print(counts[14])
"""
    done = run(build, torch_python, "-c", code)
    said = [line.split(": ")[2] for line in done.stderr.splitlines() if line.startswith("hookwatch: simulate: no value")]
    assert said == ["no value for aten::_convert_weight_to_int4pack", "no value for own_kernel", "no value for a graph launch"]
    assert done.stdout == "6\n"


def test_mode_says_what_is_active(build, torch_python):
    assert run(build, torch_python, "-c", "import torch; " + MODE).stdout == "2\n"
    for options in ([], ["-I"], ["-S"]):
        assert run(build, torch_python, *options, "-c", MODE).stdout == "3\n"


def test_a_script_may_end_with_backward(build, torch_python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch; torch.nn.Linear(8, 8).cuda()(torch.ones(8, 8, device='cuda')).sum().backward()\n")
    for values in (True, False, False):
        assert run(build, torch_python, script, values=values).stderr == ""
