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
from veilmap.federation.server import federate
from veilmap.measurements import Measurements
from veilmap.model.network import ACTIVATION_NAMES, Initialisation, Network
from veilmap.model.threads import one_thread
from veilmap.settings import plain, toml
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.settings import RunSettings

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
        comment = f"# validation RMSE {self.rmse_db:.3f} dB, best of {self.trials} trials\n"
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
    _require_optuna()
    cell = data.of_cell(settings.task.cell)
    training, _ = settings.test.apply(cell, settings.task.seed)
    prepared = prepare(training, settings)
    study = _open_study(journal, settings, len(prepared.rounds), training.fingerprint)

    def finished(study: "optuna.Study", trial: "optuna.trial.FrozenTrial") -> None:
        if on_trial:
            on_trial(
                trial.number + 1,
                trial.value if _is(trial, "COMPLETE") else None,
                _best_rmse_db(study),
            )

    remaining = trials - _done(study)
    if remaining > 0:
        with one_thread():
            study.optimize(
                lambda trial: _objective(trial, prepared), remaining, callbacks=[finished]
            )
    return _conclude(study, settings)


def _objective(trial: "optuna.Trial", prepared: Prepared) -> float:
    """The validation RMSE after the last round, or a stop on the way there."""
    import optuna

    network, learning_rate = _suggest(trial, prepared.settings.model.initialisation)
    training = replace(prepared.plan.training, learning_rate=learning_rate)
    plan = replace(prepared.plan, network=network, training=training)
    validation = Evaluation(plan, prepared.test)
    rmse_db = math.inf
    federation = federate(plan, prepared.training_rounds, prepared.users)
    for step, result in enumerate(federation, start=1):
        rmse_db = validation.rmse_db(result.weights)
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


def _open_study(
    journal: Path, settings: RunSettings, rounds: int, fingerprint: str
) -> "optuna.Study":
    """The study in the journal, made if it is not there; its trials must be about the same task."""
    import optuna
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        storage = optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
        study = optuna.create_study(
            study_name="veilmap", storage=storage, pruner=_pruner(rounds), load_if_exists=True
        )
    except (OSError, ValueError, KeyError) as error:
        raise UserError(
            f"cannot use the journal {journal} ({error}); remove it or choose another --out"
        ) from error
    about = {**plain(settings), "data": fingerprint}
    if study.user_attrs.setdefault("about", about) != about:
        raise UserError(
            f"{journal} holds trials of another task (other data or settings); "
            "choose another --out or remove it"
        )
    study.set_user_attr("about", about)
    # A resumed study must not draw the first trials again.
    study.sampler = optuna.samplers.TPESampler(seed=settings.task.seed + len(study.trials))
    return study


def _pruner(rounds: int) -> "optuna.pruners.BasePruner":
    from optuna.pruners import HyperbandPruner, NopPruner

    # With one round there is nothing to stop.
    if rounds == 1:
        return NopPruner()
    return HyperbandPruner(min_resource=1, max_resource=rounds, reduction_factor=REDUCTION)


def _done(study: "optuna.Study") -> int:
    # A trial that was interrupted is none.
    return sum(_is(trial, "COMPLETE") or _is(trial, "PRUNED") for trial in study.trials)


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
    return Tuned(best, _best_rmse_db(study), _done(study), pruned)


def _require_optuna() -> None:
    if find_spec("optuna") is None:
        raise UserError("tune needs Optuna; install it with: pip install 'veilmap[tune]'")
