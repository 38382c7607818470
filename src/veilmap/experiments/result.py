"""What came of a trial."""

from dataclasses import dataclass, field

from pydantic import InstanceOf

from veilmap.experiments.positions import Positions
from veilmap.experiments.trial import Keep
from veilmap.metrics.rows import GradientShare, RoundMeans, RoundRecord, TrialRound, TrialRow
from veilmap.study.phones import StepSummary


@dataclass(frozen=True)
class TrialResult:
    """The figures of one trial.

    Attributes:
        configuration: what the trial is called.
        seed: of the trial.
        rows: one per attack and target, or one.
        guesses: the same of the guesses that see no message: one per guess and target.
        priors: what the prior of each target was made from, or why there is none.
        history: one line per attack, target and round; if kept.
        rounds: one per attack and attacked round, means over the starts.
        training: one per round of training.
        steps: what the defence did on the phones, step by step.
        gradient: the share of the updates' elements below each power of ten; if kept.
        oracle: what was used that no real server has.
        unread: the attacks that were not run because they cannot read this kind of map.
        kept: what was asked to be kept.
        seconds: that it took.
        failed: why there are no figures, or None.
        again: a failure that another try may not meet.
        positions: where the targets were and what was found; None where no position is kept.
    """

    configuration: str
    seed: int
    rows: tuple[TrialRow, ...] = ()
    guesses: tuple[TrialRow, ...] = ()
    priors: tuple[str, ...] = ()
    history: tuple[TrialRound, ...] = ()
    rounds: tuple[RoundMeans, ...] = ()
    training: tuple[RoundRecord, ...] = ()
    steps: tuple[StepSummary, ...] = ()
    gradient: tuple[GradientShare, ...] = ()
    oracle: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    kept: tuple[Keep, ...] = ()
    seconds: float = 0.0
    failed: str | None = None
    again: bool = False
    # Arrays have a file of their own.
    positions: InstanceOf[Positions] | None = field(default=None, repr=False)

    @property
    def refused(self) -> int:
        """How many updates the server did not take."""
        return sum(len(each.refused) for each in self.training)
