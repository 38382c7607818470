"""What differs between two studies: their settings, and their figures seed by seed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from veilmap.metrics.intervals import Interval, paired_interval

JsonObject = Mapping[str, Any]  # of a results.json
RowKey = tuple[str, str, str | None]  # configuration, attack, target
RowBySeed = Mapping[int, JsonObject]  # the row of each seed
# How an audit was called: its settings say the same, one by one.
LEFT_OUT = ("resolved.command",)
IDENTITY = ("configuration", "attack", "target", "seed")


@dataclass(frozen=True)
class Differing:
    """A setting with two values; None where a side has none."""

    name: str
    a: Any
    b: Any


@dataclass(frozen=True)
class Paired:
    """One figure on both sides.

    Attributes:
        a: the mean over the pairs; over A's own seeds if there is no pair; None if it has none.
        b: the same of B.
        difference: B - A, mean over the pairs; None without a pair.
        interval: of the difference, 95 %; None for fewer than two pairs.
        pairs: seeds for which both sides have the figure.
    """

    a: float | None
    b: float | None
    difference: float | None
    interval: Interval | None
    pairs: int


@dataclass(frozen=True)
class Matched:
    """The rows of one attack on one target that both sides have; the configurations may differ."""

    configuration_a: str
    configuration_b: str
    attack: str
    target: str | None
    figures: Mapping[str, Paired] = field(repr=False)


@dataclass(frozen=True)
class Lonely:
    """Rows that only one side has."""

    side: str
    configuration: str
    attack: str
    target: str | None
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Comparison:
    """What ``veilmap.compare`` gives.

    Attributes:
        settings: that differ, by dotted name.
        versions: of Python and the libraries, that differ.
        same_data: by their fingerprints; None where a side has none, as attacks have.
        figures: the names of all figures of both sides.
        rows: that both have, in the order of A.
        only: the others.
    """

    settings: tuple[Differing, ...]
    versions: tuple[Differing, ...]
    same_data: bool | None
    figures: tuple[str, ...]
    rows: tuple[Matched, ...] = field(repr=False)
    only: tuple[Lonely, ...] = field(repr=False)


def compare_results(a: JsonObject, b: JsonObject) -> Comparison:
    """Compare the contents of two ``results.json``.

    Rows belong together that have configuration, attack and target in common. Where each side has
    one configuration only, attack and target suffice: its name is what was changed.
    """
    theirs = _by_key(b["rows"])
    figures = _figure_names([*a["rows"], *b["rows"]])
    rows, only = [], []
    alone = all(len({row["configuration"] for row in each["rows"]}) == 1 for each in (a, b))
    for key, runs in _by_key(a["rows"]).items():
        agreeing = (each for each in theirs if each[1:] == key[1:] and (alone or each == key))
        other = next(agreeing, key)
        others = theirs.pop(other, {})
        pairs = _pairs(runs, others)
        if pairs:
            rows.append(Matched(key[0], other[0], *key[1:], _figures(figures, pairs)))
        only += _lonely("A", key, runs, [one["seed"] for one, _ in pairs])
        only += _lonely("B", other, others, [two["seed"] for _, two in pairs])
    only += [line for key, runs in theirs.items() for line in _lonely("B", key, runs, [])]
    return Comparison(*_settings(a["settings"], b["settings"]), figures, tuple(rows), tuple(only))


def _settings(
    a: JsonObject, b: JsonObject
) -> tuple[tuple[Differing, ...], tuple[Differing, ...], bool | None]:
    """The settings that differ, the versions that do, and whether the data are the same."""
    ours, theirs = dict(_flat(a)), dict(_flat(b))
    prints = [each.pop("data.fingerprint", None) for each in (ours, theirs)]
    differing = [
        Differing(name, ours.get(name), theirs.get(name))
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name) and name not in LEFT_OUT
    ]
    versions = tuple(each for each in differing if each.name.startswith("versions."))
    settings = tuple(each for each in differing if each not in versions)
    return settings, versions, None if None in prints else prints[0] == prints[1]


def _flat(tables: JsonObject, at: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in tables.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{at}{name}.")
        else:
            yield f"{at}{name}", value


def _figure_names(rows: Sequence[JsonObject]) -> tuple[str, ...]:
    """Fields that are numbers wherever they are known."""
    names = dict.fromkeys(name for row in rows for name in row if name not in IDENTITY)
    return tuple(name for name in names if all(_is_number_or_none(row.get(name)) for row in rows))


def _is_number_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _by_key(rows: Iterable[JsonObject]) -> dict[RowKey, dict[int, JsonObject]]:
    rows_by_key: dict[RowKey, dict[int, JsonObject]] = {}
    for row in rows:
        key = row["configuration"], row["attack"], row["target"]
        rows_by_key.setdefault(key, {})[row["seed"]] = row
    return rows_by_key


def _pairs(a: RowBySeed, b: RowBySeed) -> list[tuple[JsonObject, JsonObject]]:
    """Of the same seed; but two single runs are a pair whatever their seeds."""
    if len(a) == len(b) == 1:
        return list(zip(a.values(), b.values(), strict=True))
    return [(row, b[seed]) for seed, row in a.items() if seed in b]


def _figures(
    names: Iterable[str], pairs: Sequence[tuple[JsonObject, JsonObject]]
) -> dict[str, Paired]:
    there = {name for pair in pairs for row in pair for name in row}
    return {
        name: _paired([(one.get(name), two.get(name)) for one, two in pairs])
        for name in names
        if name in there
    }


def _paired(values: Sequence[tuple[float | None, float | None]]) -> Paired:
    both = [(a, b) for a, b in values if a is not None and b is not None]
    differences = [b - a for a, b in both]
    return Paired(
        a=_mean(a for a, _ in both or values),
        b=_mean(b for _, b in both or values),
        difference=_mean(differences),
        interval=paired_interval(differences),
        pairs=len(both),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _lonely(side: str, key: RowKey, runs: RowBySeed, paired: Sequence[int]) -> list[Lonely]:
    seeds = tuple(sorted(set(runs) - set(paired)))
    return [Lonely(side, *key, seeds)] if seeds else []
