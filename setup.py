"""The wheel: make builds the program, the shim and the simulated stack; this puts them where pip installs them.

bin/hookwatch and lib/hookwatch/ go below the environment's prefix, the layout of `make install`, so that the command is the C
program itself. Needs gcc, make and the package index; no CUDA."""

import os
import pathlib
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

from distutils.command.install_data import install_data  # setuptools brings it

ROOT = pathlib.Path(__file__).resolve().parent
BUILD = "build/wheel"


class Build(build_py):
    def run(self):
        super().run()
        jobs = str(os.cpu_count() or 1)
        subprocess.run(["make", "-j", jobs, f"B={BUILD}", f"PYTHON={sys.executable}", "all"], cwd=ROOT, check=True)


class Install(install_data):
    """Installs what make built; the list is known only then."""

    def run(self):
        built = ROOT / BUILD
        found = {"bin": [f"{BUILD}/bin/hookwatch"], "include": ["interpose/include/hookwatch.h"]}
        for path in sorted((built / "lib").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                folder = "lib/hookwatch" / path.parent.relative_to(built / "lib")
                found.setdefault(str(folder), []).append(str(path.relative_to(ROOT)))
        self.data_files = list(found.items())
        super().run()


class Wheel(bdist_wheel):
    """Any Python 3, this platform: the program links no Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return False


setup(
    distclass=Binary,
    options={"build": {"build_base": "build/setuptools"}},  # its default, build/lib, is make's
    data_files=[("bin", [])],  # not empty, so that install_data runs
    cmdclass={"build_py": Build, "install_data": Install, "bdist_wheel": Wheel},
)
