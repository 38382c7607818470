"""A sweep as data: the TOML file behind ``veilmap sweep``, and behind each figure of the paper."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from veilmap.errors import Checked, UserError, refuse, too_low
from veilmap.settings import load_toml, parse
from veilmap.study.configuration import OneConfiguration
from veilmap.sweeping.claims import Claim, claim_of
from veilmap.sweeping.pictures import Picture, picture_of

SweepKeep = Literal["found", "chosen", "path", "past", "gradient"]
Values = list[Any] | dict[str, Any]
Made = TypeVar("Made")


@dataclass(frozen=True)
class Data(Checked):
    """What is swept over.

    Attributes:
        source: a measurement file or a simulated world.
        cell: the cell tower; the densest if not given.
        cell_rank: which by the number of measurements, for other data than the spec was made for.
        target: the user who is attacked; the densest if not given.
        similar: users who go where the target goes, for the role of that name; else found by EMD.
        dissimilar: the user who goes elsewhere; else found by EMD.
        background: the user who stands for everybody else; else all who have no other role.
        area_of: the roles of those whose measurements the area is around.
    """

    source: str = "campus"
    cell: str | None = None
    cell_rank: int = 1
    target: str | None = None
    similar: tuple[str, ...] = ()
    dissimilar: str | None = None
    background: str | None = None
    area_of: tuple[str, ...] = ("all",)

    def _faults(self) -> Iterator[UserError]:
        yield from too_low(1, **{"data.cell_rank": self.cell_rank})
        if not self.area_of:
            yield UserError("data.area_of is empty; name a role, or leave it out for all")


@dataclass(frozen=True)
class Runs(Checked):
    """A part of the grid: one run for every combination of what it goes over, and every seed.

    Texts may hold ``{eps_m}`` and the like, which stand for the values of that name in ``over``.

    Attributes:
        name: what the part is called, in tables and claims.
        configuration: the scheme, the defences and centre, as in an audit; in Python objects may
            stand in it: ``("fedavg", MyStep(3))``.
        over: names and their values; a table gives each value a name that is shown instead, and a
            value that is a table itself stands for all the values in it. In Python a value may be
            an object: ``configuration="fedavg + {step}", over={"step": [MyStep(3), MyStep(9)]}``.
        settings: of the runs, beside those of the whole sweep.
        attacks: settings of the attacks, beside those of the whole sweep.
        users: who takes part: ``all``, names, or the roles ``target``, ``similar:1``,
            ``dissimilar``, ``background``.
        only_round: train on the data of this round alone.
        times: how many rounds of it.
        label: where the attacker has the mean signal from that DLG starts with: ``target``,
            ``cell``, or a share of the cell's measurements such as ``1%``.
        measures: ``attack`` trains and attacks, ``training`` only trains, ``data`` counts.
        keep: what is kept of each run besides its figures: the locations found, the points that
            a defence chose, the path of DLG, the error on past data, the spread of the update's
            elements.
    """

    name: str
    configuration: OneConfiguration = "fedavg"
    over: dict[str, Values] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    attacks: dict[str, Any] = field(default_factory=dict)
    users: tuple[str, ...] = ("all",)
    only_round: int | None = None
    times: int = 1
    label: str | None = None
    measures: Literal["attack", "training", "data"] = "attack"
    keep: tuple[SweepKeep, ...] = ()

    def _faults(self) -> Iterator[UserError]:
        if not self.name:
            yield UserError("runs.name is empty; give the part of the grid a name")
        for name, values in self.over.items():
            if not values:
                yield UserError(f"runs.over.{name} is empty; give it values, or leave it out")
            if isinstance(values, list) and any(isinstance(each, dict) for each in values):
                yield UserError(
                    f"runs.over.{name} has a table without a name; write {{ name = {{ … }} }}"
                )
        yield from too_low(1, **{"runs.times": self.times})
        if self.only_round is not None:
            yield from too_low(1, **{"runs.only_round": self.only_round})


@dataclass(frozen=True)
class _File:
    """The tables of the file."""

    title: str = ""
    label: str = ""
    about: str = ""
    data: Data = field(default_factory=Data)
    settings: dict[str, Any] = field(default_factory=dict)
    attacks: dict[str, Any] = field(default_factory=dict)
    runs: tuple[dict[str, Any], ...] = ()
    numbers: tuple[dict[str, Any], ...] = ()
    claims: tuple[dict[str, Any], ...] = ()
    pictures: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Spec:
    """One sweep: what is run, what others measured, what is claimed, what is drawn.

    Attributes:
        label: of the table or figure in the paper, or the file's name.
        title: in one line.
        about: what the reader should know besides.
        data: where the measurements come from.
        runs: the grid.
        numbers: published ones, under the same names as ours.
        claims: statements that the figures decide.
        pictures: what is drawn of them.
    """

    label: str
    title: str
    about: str
    data: Data
    runs: tuple[Runs, ...]
    numbers: tuple[Mapping[str, Any], ...] = ()
    claims: tuple[Claim, ...] = ()
    pictures: tuple[Picture, ...] = ()


def read_spec(path: Path, common: Mapping[str, Any] | None = None) -> Spec:
    """The spec in a TOML file; its tables go over those of ``common``.

    Raises:
        UserError: the file cannot be read, or something in it is not known; all faults at once.
    """
    file = parse(_File, merged(common or {}, load_toml(path)), path.name)
    if not file.runs:
        raise UserError(f"{path.name} has no runs; add a table [[runs]] with a name")
    faults: list[UserError] = []
    shared = {"settings": file.settings, "attacks": file.attacks}
    runs = _made(file.runs, lambda table: parse(Runs, merged(shared, table), "runs"), faults)
    claims = _made(file.claims, claim_of, faults)
    pictures = _made(file.pictures, picture_of, faults)
    refuse(UserError(f"{path.name}: {fault}") for fault in faults)
    label, title = file.label or path.stem, file.title or path.stem
    return Spec(label, title, file.about, file.data, runs, file.numbers, claims, pictures)


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, table by table; where both have a value, that of ``above``."""
    found = dict(below)
    for name, value in above.items():
        under = found.get(name)
        if isinstance(value, Mapping) and isinstance(under, Mapping):
            value = merged(under, value)
        found[name] = value
    return found


def _made(
    tables: Sequence[Mapping[str, Any]],
    make: Callable[[Mapping[str, Any]], Made],
    faults: list[UserError],
) -> tuple[Made, ...]:
    """What each table stands for; what is wrong with them goes to ``faults``."""
    found = []
    for table in tables:
        try:
            found.append(make(table))
        except UserError as fault:
            faults.append(fault)
    return tuple(found)
