"""What decides the last bits of a figure besides the code: libraries, and the kind of processor."""

import platform
from importlib.metadata import version

import llvmlite.binding as llvm
import pyproj
import torch
from threadpoolctl import threadpool_info

LIBRARIES = ("numpy", "scipy", "torch", "numba", "llvmlite", "polars", "pyproj")


def fingerprint() -> dict[str, str]:
    """Two machines with the same one compute the same bits."""
    features = llvm.get_host_cpu_features()
    wide = sorted(name for name, has in features.items() if has and name.startswith(("avx", "fma")))
    cores = {each["architecture"] for each in threadpool_info() if each["user_api"] == "blas"}
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in LIBRARIES},
        "PROJ": pyproj.proj_version_str,
        "libc": " ".join(platform.libc_ver()),
        "processor": llvm.get_host_cpu_name(),
        "vector instructions": " ".join(wide),
        "torch computes with": torch.backends.cpu.get_cpu_capability(),
        "numpy computes with": " ".join(sorted(cores)),
    }


def what_differs(recorded: dict[str, str], here: dict[str, str]) -> list[str]:
    """``numpy 2.4.6, here 2.5.0``, one for each that is not the same."""
    return [
        f"{name} {value}, here {here.get(name)}"
        for name, value in recorded.items()
        if here.get(name) != value
    ]
