"""Figures as rows: one per attack and target of a trial, per attacked round, per trained round.

Tables and files see each row flat, under the names of docs/results.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any, Protocol

from veilmap.metrics.scores import Scores


class HasFigures(Protocol):
    """Whatever has figures by name: a row of a trial, or one with the keys of its run."""

    def value(self, name: str) -> Any:
        """What stands under a name, figure or not; None if there is no such thing."""

    def figure(self, name: str) -> float | None:
        """A figure by its name, such as ``emd_m``; None where it is not defined."""


class FigureRow:
    """A dataclass of figures; those of the dataclasses in it count as its own."""

    def value(self, name: str) -> Any:
        """What stands under a name, figure or not; None if there is no such thing."""
        return self._flat.get(name)

    def figure(self, name: str) -> float | None:
        """A figure by its name, such as ``emd_m``; None where it is not defined."""
        value = self._flat.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number else None

    def as_dict(self) -> dict[str, Any]:
        """Flat, ready for JSON; a part that was not measured is left out."""
        return dict(self._flat)

    def columns(self) -> dict[str, Any]:
        """The same without lists, which are no columns of a table."""
        flat = self._flat.items()
        return {name: value for name, value in flat if not isinstance(value, list | dict)}

    @cached_property
    def _flat(self) -> dict[str, Any]:
        return _flat(self)


def _flat(part: Any) -> dict[str, Any]:
    if isinstance(part, Scores):
        return part.figures()
    flat: dict[str, Any] = {}
    for each in fields(part):
        value = getattr(part, each.name)
        if is_dataclass(value):
            flat |= _flat(value)
        elif value is not None or each.default is not None:  # else a part that was not measured
            flat[each.name] = list(value) if isinstance(value, tuple) else value
    return flat


@dataclass(frozen=True)
class MapFigures:
    """Of the trained map.

    Attributes:
        rmse_db: on the test data.
        rmse_constant_db: of the constant (mean) baseline there.
        rmse_by_place_db: every 50 m square of the test data counts the same.
        skill_by_place: 1 − MSE / MSE of the constant, by place.
        share_of_central: of the skill by place of kriging all measurements at once.
        rmse_past_gap_db: by how much the RMSE on earlier rounds is larger, mean over rounds.
    """

    rmse_db: float
    rmse_constant_db: float
    rmse_by_place_db: float
    skill_by_place: float | None
    share_of_central: float | None
    rmse_past_gap_db: float | None


@dataclass(frozen=True)
class SentFigures:
    """Of what the target trained on in the attacked rounds.

    Attributes:
        points: in a round, on average.
        points_share: of its measurements in these rounds.
        points_std_m: the standard deviation of a coordinate, mean over rounds.
        true_places: how many places the recall is a share of.
    """

    points: float
    points_share: float
    points_std_m: float
    true_places: int


@dataclass(frozen=True)
class StartFigures:
    """Over all rounds and all starts of an attack: the least cosine, the largest distance."""

    cosine_least: float | None
    distance_most_m: float | None


@dataclass(frozen=True)
class UpdateFigures:
    """The share of the updates' elements that are small beside DP's noise in the paper."""

    small_share: float


@dataclass(frozen=True)
class DataFigures:
    """Of the measurements alone: the target's, and how far from the others' they are."""

    measurements: int
    rounds: int
    points: float
    user_emd: float | None


@dataclass(frozen=True)
class TrialRow(FigureRow):
    """One attack on one target; of training alone, the attack is ``none``."""

    configuration: str
    attack: str
    target: str | None
    seed: int
    map: MapFigures | None = None
    sent: SentFigures | None = None
    scores: Scores | None = None
    starts: StartFigures | None = None
    updates: UpdateFigures | None = None
    data: DataFigures | None = None


@dataclass(frozen=True)
class AttackedRound(FigureRow):
    """One attack on one update (docs/results.md, ``history`` of an attack)."""

    attack: str
    round: int
    start: int
    start_s: float
    n: int
    cosine: float | None
    inside: bool
    distance_m: float | None
    emd_m: float | None
    iterations: int
    seconds: float
    outcome: str
    predicted_error_m: float | None
    bound_1_std: float | None
    bound_2_std: float | None
    layer_norms: tuple[float | None, ...]


@dataclass(frozen=True)
class TrialRound(FigureRow):
    """One attack on one target in one round of a trial: the start that explains the update best.

    Attributes:
        configuration: as the trial is called.
        seed: of the trial.
        target: the user.
        attacked: what the attack came to.
        norm: of the leaked gradient.
        distance_trained_m: from the centroid of what was trained on, of which the theorems speak.
        bound_m: Theorem 1's, in metres.
        rmse_db: of the map after the round.
    """

    configuration: str
    seed: int
    target: str
    attacked: AttackedRound
    norm: float
    distance_trained_m: float | None
    bound_m: float | None
    rmse_db: float


@dataclass(frozen=True)
class RoundMeans(FigureRow):
    """One attack on one round: means over its starts, and the largest distance."""

    attack: str
    round: int
    cosine: float | None
    distance_m: float | None
    distance_most_m: float | None
    iterations: float
    norm: float
    layer_norms: tuple[float, ...]

    @cached_property
    def _flat(self) -> dict[str, Any]:
        norms = {f"norm_layer_{i}": norm for i, norm in enumerate(self.layer_norms, 1)}
        rest = _flat(self)
        del rest["layer_norms"]
        return rest | norms


@dataclass(frozen=True)
class RoundRecord(FigureRow):
    """One round of training.

    ``rmse_past_db`` is on the data of all earlier rounds; ``refused`` says of each user whose
    update was not taken why.
    """

    round: int
    start_s: float
    users: int
    n: int
    rmse_db: float
    rmse_by_place_db: float
    skill_by_place: float | None
    rmse_past_db: float | None
    seconds: float
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GradientShare(FigureRow):
    """The share of the updates' elements below a power of ten, mean over rounds."""

    decade: int
    share_below: float
    attack: str = "none"
    round: int = 0
