"""What the machine can do at best: large matrix products and copies.

    python benchmarks/ceiling.py

Others are held against these: so many operations at ``gflops``, so many bytes at ``copy_gb_s``.
Products are torch's, of two square matrices, on one thread and on all cores. It is a ceiling, so
the best of the repeats counts. A copy reads and writes every byte, and both are counted.
"""

import os

import torch
from command import main
from table import note, show_table
from timing import in_turn

PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


def measure(quick: bool) -> dict:
    """GFLOP/s by precision and GB/s, by the number of threads."""
    found = {}
    for threads in sorted({1, os.cpu_count() or 1}):
        torch.set_num_threads(threads)
        found[f"threads_{threads}"] = {"threads": threads} | _rates(quick)
    torch.set_num_threads(1)
    return found


def _rates(quick: bool) -> dict:
    side, megabytes, repeats = (512, 32, 3) if quick else (2048, 512, 9)
    jobs, work = {}, {}
    for name, dtype in PRECISIONS.items():
        a, b, c = (torch.randn(side, side, dtype=dtype) for _ in range(3))
        jobs[name] = lambda a=a, b=b, c=c: torch.mm(a, b, out=c)
        work[name] = 2 * side**3
    there, back = (torch.ones(megabytes * 125_000, dtype=torch.float64) for _ in range(2))
    jobs["copy"], work["copy"] = lambda: there.copy_(back), 2 * there.nbytes
    for job in jobs.values():
        job()
    found = in_turn(jobs, repeats)
    rates = {name: work[name] / found[name]["seconds_least"] / 1e9 for name in jobs}
    return {
        "float32_gflops": rates["float32"],
        "float64_gflops": rates["float64"],
        "copy_gb_s": rates["copy"],
        "side": side,
        "copied_megabytes": megabytes,
    }


def show(figures: dict) -> None:
    """One row per number of threads."""
    show_table(
        "the machine's ceiling",
        ("threads", "float32, GFLOP/s", "float64, GFLOP/s", "copy, GB/s"),
        (
            (
                each["threads"],
                *(f"{each[name]:,.0f}" for name in ("float32_gflops", "float64_gflops")),
                f"{each['copy_gb_s']:.1f}",
            )
            for each in figures.values()
        ),
    )
    one = next(iter(figures.values()))
    note(f"products of {one['side']} × {one['side']}, copies of {one['copied_megabytes']} MB")


if __name__ == "__main__":
    main(measure, show)
