"""The finished trials of a search for hyperparameters, on disk.

Optuna's own journal keeps killed trials, which use up their numbers, and its lock; after either, a
resumed search draws other networks than an uninterrupted one.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veilmap.errors import UserError
from veilmap.files import parse_json, write_json

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

SCHEMA = 1


class Trials:
    """A file of all finished trials of one task, whole after each of them."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self._path = path
        # As it comes back from JSON: a tuple is a list there.
        self._about = json.loads(json.dumps(about))

    def load(self) -> "list[FrozenTrial]":
        """In their order; none if there is no file."""
        try:
            content = parse_json(self._path.read_bytes())
            if content["schema"] != SCHEMA:
                raise ValueError(f"schema {content['schema']!r}, not {SCHEMA}")
            about, trials = content["about"], [_trial(each) for each in content["trials"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"cannot use the journal {self._path} ({error}); remove it or choose another --out"
            ) from error
        if about != self._about:
            raise UserError(
                f"{self._path} holds trials of another task (other data, settings or code); "
                "choose another --out or remove it"
            )
        return trials

    def save(self, trials: "Sequence[FrozenTrial]") -> None:
        """All of them, in place of those that were there."""
        lines = [_line(trial) for trial in trials]
        write_json(self._path, {"schema": SCHEMA, "about": self._about, "trials": lines})


def _line(trial: "FrozenTrial") -> dict[str, Any]:
    """All that Optuna's samplers and pruners look at."""
    from optuna.distributions import distribution_to_json

    return {
        "state": trial.state.name,
        "value": trial.value,
        "params": trial.params,
        "distributions": {
            name: json.loads(distribution_to_json(each))
            for name, each in trial.distributions.items()
        },
        "rmse_db": {str(step): value for step, value in trial.intermediate_values.items()},
        "attributes": trial.system_attrs,
    }


def _trial(line: Mapping[str, Any]) -> "FrozenTrial":
    from optuna.distributions import json_to_distribution
    from optuna.trial import TrialState, create_trial

    return create_trial(
        state=TrialState[line["state"]],
        value=line["value"],
        params=line["params"],
        distributions={
            name: json_to_distribution(json.dumps(each))
            for name, each in line["distributions"].items()
        },
        intermediate_values={int(step): value for step, value in line["rmse_db"].items()},
        system_attrs=line["attributes"],
    )
