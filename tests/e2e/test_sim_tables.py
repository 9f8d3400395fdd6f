"""The tables the simulated libraries are made from: against the libraries, an installed PyTorch, and NVIDIA's own headers."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def tables(root):
    return {name: rows(root / f"interpose/sim/{name}.tsv") for name in ("libraries", "symbols")}


def test_every_row_is_exported(build, tables):
    """With its version node, from the library that says its SONAME."""
    for soname, node, *_ in tables["libraries"]:
        path = build / "lib/sim" / soname
        dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        assert f"soname: [{soname}]" in dynamic
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        assert needed <= {"libcudart.so.13", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
        exported = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1] for line in exported.splitlines()}
        suffix = "" if node == "-" else f"@@{node}"
        assert {row[1] + suffix for row in tables["symbols"] if row[0] == soname} <= names


def test_no_row_twice(tables):
    keys = [tuple(row[:2]) for row in tables["symbols"]]
    assert len(keys) == len(set(keys))
    assert {row[2] for row in tables["symbols"]} <= {"own", "ok", "no", "launch", "launch0"}


def torch_directory(python):
    code = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_nothing_the_installed_torch_needs_is_missing(root, torch_python):
    done = subprocess.run([root / "scripts/sim-symbols", torch_directory(torch_python)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_missing_is_named(root, torch_python, tmp_path):
    (tmp_path / "scripts").mkdir()
    shutil.copy(root / "scripts/sim-symbols", tmp_path / "scripts")
    sim = tmp_path / "interpose/sim"
    sim.mkdir(parents=True)
    for name in ("libraries.tsv", "symbols.tsv"):
        text = (root / "interpose/sim" / name).read_text()
        kept = [line for line in text.splitlines(True) if not line.startswith(("libcufile", "libcudart.so.13\tcudaMemcpyAsync\t"))]
        (sim / name).write_text("".join(kept))
    script = tmp_path / "scripts/sim-symbols"
    torch = torch_directory(torch_python)
    done = subprocess.run([script, torch], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and lines[0] == "libcufile.so.0: no row in libraries.tsv"
    assert "libcudart.so.13: cudaMemcpyAsync" in lines
    assert subprocess.run([script, "--write", torch], capture_output=True).returncode == 1
    assert "libcudart.so.13\tcudaMemcpyAsync\tno\t-\n" in (sim / "symbols.tsv").read_text()
    assert subprocess.run([script, tmp_path], capture_output=True, text=True).returncode == 2


# Our structure, NVIDIA's, and the fields that must lie in the same place.
LAYOUTS = {
    ("hw_cuda_device_prop", "struct cudaDeviceProp"): """name:name uuid:uuid total_global_mem:totalGlobalMem
        shared_mem_per_block:sharedMemPerBlock regs_per_block:regsPerBlock warp_size:warpSize mem_pitch:memPitch
        max_threads_per_block:maxThreadsPerBlock max_threads_dim:maxThreadsDim max_grid_size:maxGridSize
        total_const_mem:totalConstMem major:major minor:minor texture_alignment:textureAlignment
        multi_processor_count:multiProcessorCount can_map_host_memory:canMapHostMemory surface_alignment:surfaceAlignment
        concurrent_kernels:concurrentKernels pci_bus_id:pciBusID async_engine_count:asyncEngineCount
        unified_addressing:unifiedAddressing memory_bus_width:memoryBusWidth l2_cache_size:l2CacheSize
        max_threads_per_multi_processor:maxThreadsPerMultiProcessor
        stream_priorities_supported:streamPrioritiesSupported
        shared_mem_per_multiprocessor:sharedMemPerMultiprocessor regs_per_multiprocessor:regsPerMultiprocessor
        managed_memory:managedMemory cooperative_launch:cooperativeLaunch
        shared_mem_per_block_optin:sharedMemPerBlockOptin max_blocks_per_multi_processor:maxBlocksPerMultiProcessor
        reserved_shared_mem_per_block:reservedSharedMemPerBlock""",
    ("hw_cuda_pointer_attributes", "struct cudaPointerAttributes"): """type:type device:device
        device_pointer:devicePointer host_pointer:hostPointer""",
    ("hw_cuda_func_attributes", "struct cudaFuncAttributes"): """max_threads_per_block:maxThreadsPerBlock num_regs:numRegs
        ptx_version:ptxVersion binary_version:binaryVersion max_dynamic_shared_size_bytes:maxDynamicSharedSizeBytes""",
    ("hw_cuda_launch_config", "cudaLaunchConfig_t"): """grid:gridDim block:blockDim shared_bytes:dynamicSmemBytes
        stream:stream attrs:attrs num_attrs:numAttrs""",
    ("hw_cu_launch_config", "CUlaunchConfig"): """grid:gridDimX block:blockDimX shared_bytes:sharedMemBytes stream:hStream
        attrs:attrs num_attrs:numAttrs""",
}


def test_layouts_are_those_of_the_toolkit(root, tmp_path):
    toolkit = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    if not (toolkit / "include/cuda_runtime_api.h").exists():
        pytest.skip("no CUDA toolkit here")
    lines = ["#include <stddef.h>", "#include <cuda.h>", "#include <cuda_runtime_api.h>", '#include "interpose/sim/cuda_abi.h"']
    for (ours, theirs), fields in LAYOUTS.items():
        lines.append(f'_Static_assert(sizeof({ours}) == sizeof({theirs}), "{ours}");')
        for field in fields.split():
            a, b = field.split(":")
            lines.append(f'_Static_assert(offsetof({ours}, {a}) == offsetof({theirs}, {b}), "{ours}.{a}");')
    source = tmp_path / "layouts.c"
    source.write_text("\n".join(lines) + "\n")
    command = [os.environ.get("CC", "gcc"), "-fsyntax-only", "-I", root, "-I", toolkit / "include", source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
