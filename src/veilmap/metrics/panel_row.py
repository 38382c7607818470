"""How the configurations of an audit compare, one row each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from veilmap.metrics.spread import Spread, Strongest


@dataclass(frozen=True)
class StepCost:
    """What one step of a defence costs a phone in a round, and over the run."""

    step: str
    milliseconds: float
    peak_mb: float
    learning_seconds: float
    spent: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PanelRow:
    """A configuration of the panel with its figures.

    Attributes:
        name: such as ``fedavg + farthest:eps_m=50,num=20``.
        rmse_db: on the test data.
        rmse_loss_db: against the baseline.
        skill_by_place: 1 − MSE / MSE of the constant, every place counting the same; median over
            seeds, None where the constant is exact.
        share_of_central: of the skill of kriging all measurements at once.
        guesses: by the name of the figure, every guess that sees no message, ``blind`` first.
        points_share: which part of the target's measurements was trained on.
        strongest: by the name of the figure; one that no attack has is left out.
        is_baseline: what all others are compared with.
        is_on_frontier: no other is both more accurate and more private.
        dominated_by: one that is, if any.
        is_recommended: by what the reader asked for.
        costs: step by step.
        unread: the attacks that cannot read its kind of map, and were not run.
    """

    name: str
    rmse_db: Spread
    rmse_loss_db: float
    points_share: float
    strongest: Mapping[str, Strongest]
    is_baseline: bool
    is_on_frontier: bool
    dominated_by: str | None
    is_recommended: bool
    costs: tuple[StepCost, ...] = ()
    unread: tuple[str, ...] = ()
    skill_by_place: float | None = None
    share_of_central: float | None = None
    guesses: Mapping[str, tuple[Strongest, ...]] = field(default_factory=dict)
