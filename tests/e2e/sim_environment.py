"""The environment of the simulated stack without the shim, so that its own account is judged alone."""

import os
import pathlib
import subprocess


def environment(build, values=True, **settings):
    """Variables for a process on the simulated stack; settings are HOOKWATCH_SIM_* by their last part, in lower case."""
    sim = pathlib.Path(build) / "lib" / "sim"
    late = ("libcuda.so", "libnvidia-ml.so")  # opened by name, so found on the library path
    preload = [str(p) for p in sorted(sim.glob("lib*.so*")) if not p.name.startswith(late)]
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    env.update(
        LD_PRELOAD=":".join(preload),
        LD_LIBRARY_PATH=str(sim),
        PYTHONDONTWRITEBYTECODE="1",
        HOOKWATCH_SIM_VALUES="1" if values else "0",
        OMP_NUM_THREADS="1",
    )
    if not values:
        env["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
    env.update({f"HOOKWATCH_SIM_{name.upper()}": str(value) for name, value in settings.items()})
    return env


def run(build, python, *arguments, status=0, values=True, env=None, **settings):
    """Runs python with the arguments on the simulated stack; the finished process, whose status must be `status`."""
    done = subprocess.run(
        [python, *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**environment(build, values, **settings), **(env or {})},
    )
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done
