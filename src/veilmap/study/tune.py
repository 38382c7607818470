"""Hyperparameters by Hyperband (Li et al. 2018), with Optuna, as the paper tunes its network.

A trial is a whole federated run with the user's own T, B and E; its resource is the number of
rounds, after each of which a bad trial can be stopped. RMSE is measured on validation data taken
from the training data, so the test data stay unseen.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from veilmap.errors import UserError
from veilmap.federation.evaluation import Evaluation
from veilmap.federation.map_family import papers_network
from veilmap.federation.server import federate
from veilmap.maps.network_map import NetworkMap
from veilmap.measurements import Measurements
from veilmap.model.device import torch_device
from veilmap.model.network import ACTIVATION_NAMES, Initialisation, Network
from veilmap.model.threads import one_thread
from veilmap.output import held_file
from veilmap.settings import plain, toml
from veilmap.strategy import as_text
from veilmap.streams import stream
from veilmap.study.code_fingerprint import code_of
from veilmap.study.optuna_journal import Trials
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.settings import RunSettings
from veilmap.wording import counted

if TYPE_CHECKING:
    import optuna

_INDICES = tuple(range(len(ACTIVATION_NAMES)))
REDUCTION = 3  # Hyperband's η: a rung keeps the best third


@dataclass(frozen=True)
class Tuned:
    """The settings with the best network and learning rate so far, and what they reached."""

    settings: RunSettings
    rmse_db: float
    trials: int
    pruned: int

    def as_toml(self) -> str:
        """A settings file that ``veilmap train --model`` accepts."""
        comment = (
            f"# validation RMSE {self.rmse_db:.3f} dB, best of {counted(self.trials, 'trial')}\n"
        )
        return comment + toml(plain(self.settings))


OnTrial = Callable[[int, float | None, float], None]


def tune(
    data: Measurements,
    settings: RunSettings,
    *,
    trials: int,
    journal: Path,
    on_trial: OnTrial | None = None,
) -> Tuned:
    """Try networks until ``trials`` are done in all; what ``journal`` already holds counts.

    ``on_trial`` is called with the trial's number, its RMSE (None: stopped early) and the best.
    """
    if papers_network(settings.map) is None:
        raise UserError(
            f"tune searches the layers of the paper's network, got map {as_text(settings.map)}; "
            f"take --map {NetworkMap.name}"
        )
    if find_spec("optuna") is None:
        raise UserError("tune needs Optuna; install it with: pip install 'veilmap[tune]'")
    torch_device()
    cell = data.of_cell(settings.task.cell)
    training, _ = settings.test.apply(cell, settings.task.seed)
    prepared = prepare(training, settings)
    about = {**plain(settings), "data": training.fingerprint, "code": _code_of(settings)}
    with held_file(journal), one_thread():
        kept = Trials(journal, about)
        study = _make_study(len(prepared.rounds))
        study.add_trials(kept.load())
        for number in range(len(study.trials), trials):
            study.sampler = _sampler(settings.task.seed, number)
            study.optimize(lambda trial: _objective(trial, prepared), 1)
            kept.save(study.trials)
            if on_trial:
                trial = study.trials[-1]
                reached_db = trial.value if _is(trial, "COMPLETE") else None
                on_trial(number + 1, reached_db, _best_rmse_db(study))
    return _conclude(study, settings)


def _code_of(settings: RunSettings) -> str:
    code = code_of(settings)
    if code is None:
        raise UserError(
            f"cannot resume: the code of {settings.configuration} cannot be identified; "
            "define its classes at the top level of a module"
        )
    return code


def _objective(trial: "optuna.Trial", prepared: Prepared) -> float:
    """The validation RMSE after the last round, or a stop on the way there."""
    import optuna

    network, learning_rate = _suggest(trial, prepared.settings.model.initialisation)
    training = replace(prepared.plan.training, learning_rate=learning_rate)
    plan = replace(prepared.plan, map=NetworkMap.of(network), training=training)
    validation = Evaluation(plan, prepared.test)
    rmse_db = math.inf
    federation = federate(plan, prepared.training_rounds, prepared.users)
    for step, result in enumerate(federation, start=1):
        rmse_db = validation.rmse_db(result.state)
        if not math.isfinite(rmse_db):
            raise optuna.TrialPruned
        trial.report(rmse_db, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return rmse_db


def _suggest(
    trial: "optuna.trial.BaseTrial", initialisation: Initialisation
) -> tuple[Network, float]:
    """Depth, width, activations, dropout, η: the paper's list."""
    levels = range(trial.suggest_int("depth", 1, 3))
    dropout = trial.suggest_float("dropout", 0.0, 0.3, step=0.05)
    network = Network(
        hidden=tuple(trial.suggest_int(f"width_{i}", 16, 1024, log=True) for i in levels),
        activations=tuple(
            ACTIVATION_NAMES[trial.suggest_categorical(f"activation_{i}", _INDICES)] for i in levels
        ),
        dropout=(dropout,) * len(levels),
        initialisation=initialisation,
    )
    return network, trial.suggest_float("learning_rate", 1e-5, 1e-1, log=True)


def _make_study(rounds: int) -> "optuna.Study":
    import optuna
    from optuna.pruners import HyperbandPruner, NopPruner

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # With one round there is nothing to stop.
    pruner = HyperbandPruner(1, rounds, REDUCTION) if rounds > 1 else NopPruner()
    # Hyperband takes a trial's bracket from its number and the name of the study.
    return optuna.create_study(study_name="veilmap", pruner=pruner)


def _sampler(seed: int, number: int) -> "optuna.samplers.BaseSampler":
    """A new one for each trial, so that a resumed search draws the same networks."""
    from optuna.samplers import TPESampler

    return TPESampler(seed=int(stream(seed, "tune", number).integers(2**32)))


def _best_rmse_db(study: "optuna.Study") -> float:
    reached = (trial.value for trial in study.trials if _is(trial, "COMPLETE"))
    return min((value for value in reached if value is not None), default=math.inf)


def _is(trial: "optuna.trial.FrozenTrial", state: str) -> bool:
    return trial.state.name == state


def _conclude(study: "optuna.Study", settings: RunSettings) -> Tuned:
    from optuna.trial import FixedTrial

    if not math.isfinite(_best_rmse_db(study)):
        raise UserError("no trial reached the last round; run more with --trials")
    network, learning_rate = _suggest(FixedTrial(study.best_params), settings.model.initialisation)
    training = replace(settings.training, learning_rate=learning_rate)
    pruned = sum(_is(trial, "PRUNED") for trial in study.trials)
    best = replace(settings, model=network, training=training)
    return Tuned(best, _best_rmse_db(study), len(study.trials), pruned)
