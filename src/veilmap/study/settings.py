"""Everything that decides a run, as data."""

from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict

from veilmap.errors import UserError, out_of_range
from veilmap.federation.plan import Training
from veilmap.model.network import Network
from veilmap.rounds import Split, parse_interval
from veilmap.settings import group, parse
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading


@dataclass(frozen=True)
class Task:
    """What is learned, and on which public footing.

    Attributes:
        cell: the cell tower; the densest if not given.
        interval: T, the duration of a round.
        area: west, south, east, north of the public area in degrees; by default the bounding box
            of the cell's measurements, which only a simulation can know.
        scaler: ``area`` standardises positions by the public area, as a deployment must;
            ``fitted`` by mean and spread of everybody's data, as in the paper.
        label_offset_dbm: the public mean that the network predicts deviations from. ``mean`` takes
            the training data's mean rounded to 1 dB in its place; ``none`` is the paper's setting.
        seed: the root of all randomness.
    """

    # A cell may be written as a number, which it mostly is.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(coerce_numbers_to_str=True)

    cell: str | None = None
    interval: str = "1w"
    area: tuple[float, float, float, float] | None = None
    scaler: Literal["area", "fitted"] = "area"
    label_offset_dbm: float | Literal["mean", "none"] = "mean"
    seed: int = 0

    def __post_init__(self) -> None:
        parse_interval(self.interval)
        if isinstance(self.label_offset_dbm, float) and not isfinite(self.label_offset_dbm):
            raise out_of_range("label_offset_dbm", "a finite number", self.label_offset_dbm)
        if self.area is not None and (self.area[0] >= self.area[2] or self.area[1] >= self.area[3]):
            raise UserError(
                "area must be west south east north with west < east and south < north, "
                f"got {self.area}"
            )
        if self.seed < 0:
            raise out_of_range("seed", "at least 0", self.seed)


@dataclass(frozen=True)
class RunSettings:
    """The settings of one run; each part is a table in TOML."""

    task: Task = field(default_factory=Task)
    test: Split = field(default_factory=Split)
    model: Network = field(default_factory=Network)
    training: Training = field(default_factory=Training)

    @classmethod
    def of(cls, **keywords: Any) -> "RunSettings":
        """From flat keywords: ``RunSettings.of(cell="x204", epochs=1, batch_size="inf")``."""
        return parse(cls, group(cls, keywords, "settings"), "settings")

    def as_dict(self) -> dict[str, Any]:
        """The settings in JSON's and TOML's types, without the empty ones."""
        return {name: _plain(part) for name, part in asdict(self).items()}


@dataclass(frozen=True)
class SettingsFile(RunSettings):
    """The tables that a TOML file may hold: a run, and how its measurements are read."""

    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in part.items()
        if value is not None
    }
