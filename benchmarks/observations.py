"""The updates that the attacks are measured on: the campus world's densest user in week 1."""

import veilmap
from veilmap.federation.client import user_update
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings

FEDSGD = {"map": "network", "batch_size": "inf", "epochs": 1, "learning_rate": 1e-3}
FEDAVG = {"map": "network", "batch_size": 20, "epochs": 5, "learning_rate": 1e-5}
# Raw labels leak most; with centred ones the residuals cancel, and the objective is rough.
SETTINGS = {
    "FedSGD, raw labels": FEDSGD | {"label_offset_dbm": "none"},
    "FedAvg, B = 20, E = 5, η = 1e-5": FEDAVG | {"label_offset_dbm": "none"},
    "FedSGD, centred labels": FEDSGD | {"label_offset_dbm": "mean"},
}
# Where gradient matching fails.
MANY_STEPS = FEDAVG | {"learning_rate": 1e-3, "label_offset_dbm": "none"}


def observe(settings: dict, count: int = 1) -> tuple[Header, list[Observation]]:
    """The header, and the largest updates of the first weeks, all from the fresh weights."""
    prepared = prepare(veilmap.read("campus"), RunSettings.of(interval="1w", **settings))
    weights = prepared.plan.network.initialise(prepared.plan.seed)
    chosen = [(this, user) for this in prepared.rounds[:4] for user in this.data]
    chosen.sort(key=lambda each: (each[0].number != 1, -len(each[0].data[each[1]])))
    observations = []
    for this, user in chosen[:count]:
        points = this.data[user]
        after = user_update(prepared.plan, weights, points, user, this.number)
        observations.append(
            Observation.of_weights(this.number, user, weights, after, len(points), this.start_s)
        )
    return prepared.header, observations
