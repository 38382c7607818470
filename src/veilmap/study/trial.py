"""One configuration with one seed, trained and attacked: the unit that studies are made of."""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from veilmap.federation.observation import Recorder
from veilmap.measurements import Measurements
from veilmap.study.attack import attack
from veilmap.study.attack_run import AttackRun
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.prepare import prepare
from veilmap.study.results import result_row
from veilmap.study.seen import seen_of
from veilmap.study.settings import RunSettings
from veilmap.study.train import Run, train_prepared


@dataclass(frozen=True)
class Trial:
    """A run and what the server made of it."""

    run: Run
    attacked: AttackRun

    def rows(self) -> list[dict[str, Any]]:
        """One per attack: the price in dB, what was found, and what the phones did.

        ``points`` is how many the target trained on in an attacked round, on average, and
        ``points_share`` which part of its measurements that is.
        """
        defences = [step.as_dict() for step in self.run.defences]
        sent = next(iter(self.attacked.found.values()))
        measured = [len((self.attacked.truth or {})[each.round]) for each in sent]
        return [
            result_row(
                self.attacked.configuration,
                self.run.prepared.plan.seed,
                attack=name,
                target=self.attacked.target,
                rmse_db=self.run.rmse_db,
                rmse_constant_db=self.run.prepared.rmse_constant_db,
                points=fmean(each.n for each in sent),
                points_share=sum(each.n for each in sent) / sum(measured),
                defences=defences,
                **scores.figures(),
            )
            for name, scores in self.attacked.scores.items()
        ]


def trial(data: Measurements, settings: RunSettings, attacks: AttackSettings) -> Trial:
    """Train in memory and attack what one user sent, by default the one who measured most."""
    prepared = prepare(data, settings)
    wanted = () if attacks.who.target is None else (attacks.who.target,)
    seen = Recorder(wanted)
    run = train_prepared(prepared, seen)
    return Trial(run, attack(seen_of(prepared, seen.observations), attacks))
