"""An audit from Python: how near the server comes, which defence prevents it, and the tables.

    python examples/audit.py
    python examples/audit.py measurements.csv --seeds 5 --out audit

Without DATA it runs on the simulated campus. It prints no position.
"""

import argparse

import veilmap


def main() -> None:
    options = _options()
    found = veilmap.audit(
        options.data,
        out=options.out,
        seeds=options.seeds,
        interval=options.interval,
        configurations=options.configurations,
        min_home_error_m=options.min_home_error,
    )
    print(found.verdict.headline)
    for sentence in found.verdict.sentences:
        print(f"- {sentence}")
    if advice := found.verdict.advice:  # there is none if no map is better than a constant
        print(f"\n{advice.words}\n{advice.command}\n")
    columns = [
        "configuration",
        "rmse_db",
        "skill_by_place",
        "home_error_m",
        "home_error_m_attack",
        "is_on_frontier",
    ]
    print(found.configurations.select(columns))
    # One row for each configuration, attack, target and seed, ready for polars or pandas.
    print(found.rows.select("attack", "emd_paper").group_by("attack", maintain_order=True).mean())
    found.report(options.report)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default="campus")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--interval", default="1w")
    parser.add_argument("--configurations", nargs="+", default=(), help="by default the panel")
    parser.add_argument("--min-home-error", type=float, default=300.0, help="in metres")
    parser.add_argument("--out", help="a folder from which to resume")
    parser.add_argument("--report", default="report.html")
    return parser.parse_args()


if __name__ == "__main__":
    main()
