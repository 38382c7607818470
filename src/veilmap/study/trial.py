"""One configuration with one seed, trained and attacked: the unit that studies are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from veilmap.area import Area
from veilmap.errors import out_of_range, refuse
from veilmap.federation.observation import Observation
from veilmap.local_data import LocalData
from veilmap.measurements import Measurements
from veilmap.study.attack import attack
from veilmap.study.attack_run import AttackRun
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.evidence.collecting import Collected, collect_all, collect_for
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.results import result_row
from veilmap.study.settings import RunSettings
from veilmap.study.train import Run, train_prepared


@dataclass(frozen=True)
class SameRound:
    """The data of one round over and over, as if nothing new were measured.

    Attributes:
        number: which of the rounds with data, from 1; the last if there are fewer.
        times: how often.
    """

    number: int
    times: int = 1

    def __post_init__(self) -> None:
        numbers = {"the round's number": self.number, "times": self.times}
        refuse(
            out_of_range(name, "at least 1", value) for name, value in numbers.items() if value < 1
        )

    def apply(self, prepared: Prepared) -> Prepared:
        """The same footing with these rounds alone."""
        chosen = prepared.rounds[: self.number][-1]
        again = (replace(chosen, number=i) for i in range(1, self.times + 1))
        return replace(prepared, rounds=tuple(again))


@dataclass(frozen=True)
class Trial:
    """A run, and what the server made of it, if it attacked.

    ``observations`` are the updates that were kept: those of the target, or all where asked for.
    """

    run: Run
    attacked: AttackRun | None
    observations: Sequence[Observation] = field(repr=False)

    def rows(self) -> list[dict[str, Any]]:
        """One per attack: the price in dB, what was found, and what the phones did."""
        about: dict[str, Any] = {
            "rmse_db": self.run.rmse_db,
            "rmse_constant_db": self.run.prepared.rmse_constant_db,
            "rmse_past_gap_db": self._past_gap_db(),
            "defences": [step.as_dict() for step in self.run.defences],
        }
        name, seed = self.run.prepared.settings.configuration, self.run.prepared.plan.seed
        if self.attacked is None:
            return [result_row(name, seed, **about)]
        about |= self._batch_figures(self.attacked)
        return [
            result_row(
                name, seed, attack=each, target=self.attacked.target, **about, **scores.figures()
            )
            for each, scores in self.attacked.scores.items()
        ]

    def _past_gap_db(self) -> float | None:
        """How much worse the model is on earlier rounds than on the test data, mean over rounds."""
        gaps = [
            record.rmse_past_db - record.rmse_db
            for record in self.run.history
            if record.rmse_past_db is not None
        ]
        return fmean(gaps) if gaps else None

    def _batch_figures(self, attacked: AttackRun) -> dict[str, float]:
        """Of what the target trained on in an attacked round.

        ``points`` on average, ``points_share`` of its measurements, and ``points_std_m``, the
        standard deviation of a coordinate.
        """
        sent = next(iter(attacked.found.values()))
        measured = [len((attacked.truth or {})[each.round]) for each in sent]
        batches = [self._batch(attacked, each.round) for each in sent]
        return {
            "points": fmean(each.n for each in sent),
            "points_share": sum(each.n for each in sent) / sum(measured),
            "points_std_m": fmean(float(each.xy_m.std(axis=0).mean()) for each in batches),
        }

    def _batch(self, attacked: AttackRun, t: int) -> LocalData:
        """Of the target; under secure aggregation, of all."""
        kept = self.run.batches[t]
        return (
            kept[attacked.target] if attacked.target in kept else LocalData.join([*kept.values()])
        )


def trial(
    data: Measurements,
    settings: RunSettings,
    attacks: AttackSettings | None,
    *,
    area: Area | None = None,
    same_round: SameRound | None = None,
    past: bool = False,
    keep_path: bool = False,
    keep_updates: bool = False,
) -> Trial:
    """Train in memory and attack what one user sent, by default the one who measured most.

    Args:
        data: the measurements.
        settings: of the run.
        attacks: on it; None only trains.
        area: the public area, where it is not that of the data.
        same_round: train on one round's data again and again.
        past: also measure the RMSE on the data of all earlier rounds.
        keep_path: keep the way of every DLG attack.
        keep_updates: keep what every user sent, and not only the one who is attacked.
    """
    prepared = prepare(data, settings)
    if area is not None:
        prepared = prepared.in_area(area)
    if same_round is not None:
        prepared = same_round.apply(prepared)
    if keep_updates:
        kept = collect_all(prepared, past)
    elif attacks is None:
        kept = Collected(train_prepared(prepared, past=past, keep=prepared.users))
    else:
        kept = collect_for(prepared, attacks.who, past)
    if attacks is None:
        return Trial(kept.run, None, kept.observations)
    attacked = attack(kept.evidence, attacks, keep_path=keep_path)
    return Trial(kept.run, attacked, kept.observations)
