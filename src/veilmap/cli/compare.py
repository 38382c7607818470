"""``veilmap compare``."""

import json as json_text
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from veilmap.cli.console import print_table, say, say_wrapped
from veilmap.errors import unknown_choice
from veilmap.metrics.figure_names import MAIN
from veilmap.study.compare import compare
from veilmap.study.comparison import Comparison, Matched, Paired
from veilmap.study.results import NO_ATTACK
from veilmap.wording import plural

DATA = {
    True: "data: the same",
    False: "data: not the same",
    None: "data: not known to be the same, because an attack does not record them",
}


def compare_(
    a: Path, b: Path, *, figures: tuple[str, ...] | None = None, json: bool = False
) -> None:
    """Show what differs in settings and in figures between two runs, attacks or audits.

    Figures of several seeds are paired seed by seed; the interval is Student's, 95 %, of the mean
    difference. A difference whose interval holds 0 may be chance.

    Args:
        a: a folder written by "veilmap train", "attack" or "audit", or its results.json.
        b: the other; differences are B - A.
        figures: figures to show; by default rmse_db, skill_by_place, emd_paper, diverged_share,
            distance_m and home_error_m, if present.
        json: print everything as JSON, with all figures.
    """
    found = compare(a, b)
    for name in figures or ():
        if name not in found.figures:
            raise unknown_choice("figure", name, sorted(found.figures))
    if json:
        # Not through the console, which would wrap long lines.
        print(json_text.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    say(f"A: {a}\nB: {b}")
    _show_settings(found)
    _show_figures(found, figures or MAIN)
    _show_only(found)


def _show_settings(found: Comparison) -> None:
    say(DATA[found.same_data])
    for name, differing in (("versions", found.versions), ("settings", found.settings)):
        if not differing:
            say(f"{name}: the same")
            continue
        say("")
        rows = [
            (each.name.removeprefix("versions."), _text(each.a), _text(each.b))
            for each in differing
        ]
        print_table(rows, name, "A", "B", left=3)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else json_text.dumps(value, ensure_ascii=False)


def _show_figures(found: Comparison, figures: Sequence[str]) -> None:
    shown = [row for row in found.rows if set(figures) & set(row.figures)]
    for row in shown:
        say_wrapped(f"\n{_case(row)}")
        numbers = [(name, *_numbers(row.figures[name])) for name in figures if name in row.figures]
        print_table(numbers, "figure", "A", "B", "B - A", "95 % interval", "pairs")
    if not shown:
        say(f"no rows have one of these figures on both sides: {', '.join(figures)}")


def _case(row: Matched) -> str:
    names = " → ".join(dict.fromkeys((row.configuration_a, row.configuration_b)))
    return f"{names}{_attack(row.attack, row.target)}"


def _attack(attack: str, target: str | None) -> str:
    """The attack and its target; empty for training alone."""
    if attack == NO_ATTACK:
        return ""
    return f", {attack}" if target is None else f", {attack} on user {target}"


def _numbers(figure: Paired) -> tuple[str, ...]:
    interval = figure.interval
    return (
        _number(figure.a),
        _number(figure.b),
        _number(figure.difference, "+"),
        "-" if interval is None else f"{interval.low:+,.3f} … {interval.high:+,.3f}",
        f"{figure.pairs}",
    )


def _number(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign},.3f}"


def _show_only(found: Comparison) -> None:
    if found.only:
        say("")
    for each in found.only:
        seeds = f"{plural(len(each.seeds), 'seed')} {', '.join(str(one) for one in each.seeds)}"
        attack = _attack(each.attack, each.target)
        say(f"only in {each.side}: {each.configuration}{attack}, {seeds}")
