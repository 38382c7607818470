"""Algorithm 1 line by line, as plain as it can be written.

``server`` and ``client`` do the same faster; a test holds them together. The numbers on the
right are the paper's lines; lines 9-11, the attack, read the observations later.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor

import numpy as np

from veilmap.defences.step import PointStep, UpdateStep
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData, Round
from veilmap.model.dropout import Dropout
from veilmap.model.network import Floats
from veilmap.model.reference import gradient
from veilmap.streams import stream


def server_executes(plan: Plan, rounds: Sequence[Round], users: Sequence[str]) -> Iterator[Floats]:
    """w_1, w_2, … w_R."""
    w = plan.network.initialise(plan.seed)  # 3
    for this in rounds:  # 4
        m = max(floor(Fraction(str(plan.training.fraction)) * len(users)), 1)  # 5
        subset = stream(plan.seed, "participants", this.number).permutation(len(users))[:m]  # 6
        n_t, w_t = {}, {}
        for user in (users[k] for k in subset):  # 7
            if user in this.data:
                w_t[user], n_t[user] = user_update(plan, user, w, this.number, this.data[user])  # 8
        if w_t:
            w = _weighted_mean(w_t, n_t)  # 12
        yield w


def user_update(
    plan: Plan, user: str, w: Floats, t: int, local_data: LocalData
) -> tuple[Floats, int]:
    """UserUpdate(k, w, t, B), with steps that leave some points and need not learn."""
    before, local_batch = w, local_data  # 15
    for defence in plan.defence.of(user):
        if isinstance(defence, PointStep):
            local_batch, _ = defence.on_points(local_batch, plan.turn(user, t))  # 16
    n = len(local_batch)  # 17
    size = n if plan.training.batch_size == "inf" else plan.training.batch_size
    order = stream(plan.seed, "mini-batches", user, t).permutation(n)
    x = (local_batch.xy_m - plan.scaler.mean_m) / plan.scaler.scale_m
    y = local_batch.rsrp_dbm - plan.label_offset_dbm
    batches = [
        (x[order[i : i + size]].astype(np.float32), y[order[i : i + size]].astype(np.float32))
        for i in range(0, n, size)
    ]  # 18
    dropout = Dropout(plan.network, stream(plan.seed, "dropout", user, t))
    for _ in range(plan.training.epochs):  # 19
        for b in batches:  # 20
            step = gradient(plan.network, w, b, dropout)
            w = w - np.float32(plan.training.learning_rate) * step  # 21
    for defence in plan.defence.of(user):
        if isinstance(defence, UpdateStep):
            w = before + defence.on_update(w - before, plan.turn(user, t))[0]
    return w, n  # 22


def _weighted_mean(w_t: Mapping[str, Floats], n_t: Mapping[str, int]) -> Floats:
    shares = np.array([n_t[user] for user in w_t]) / sum(n_t.values())
    mean = shares @ np.stack(list(w_t.values())).astype(np.float64)
    return mean.astype(np.float32)
