"""UserUpdate of Algorithm 1: what the phone does with its data of a round."""

from typing import TYPE_CHECKING

import numpy as np

from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData
from veilmap.model.network import Floats, MiniBatch
from veilmap.streams import stream

if TYPE_CHECKING:
    from veilmap.model.dropout import Dropout


def user_update(plan: Plan, weights: Floats, local_batch: LocalData, user: str, t: int) -> Floats:
    """w_t^k from w_{t-1} and the local batch (Algorithm 1, lines 18-22)."""
    from veilmap.model.training import sgd

    return sgd(
        plan.network,
        weights,
        mini_batches(plan, local_batch, user, t),
        epochs=plan.training.epochs,
        learning_rate=plan.training.learning_rate,
        dropout=dropout(plan, user, t),
    )


def dropout(plan: Plan, user: str, t: int) -> "Dropout":
    """Which units the steps of a user's round drop."""
    from veilmap.model.dropout import Dropout

    return Dropout(plan.network, stream(plan.seed, "dropout", user, t))


def mini_batches(plan: Plan, local_batch: LocalData, user: str, t: int) -> list[MiniBatch]:
    """Line 18: B_t^k, the local batch split into mini-batches of size B, once for all epochs.

    The paper is silent on the order; the rows are shuffled first, so that a mini-batch is a
    sample of the round and not one moment of it. The last mini-batch may be smaller.
    """
    x = plan.scaler.standardise(local_batch.xy_m)
    y = (local_batch.rsrp_dbm - plan.label_offset_dbm).astype(np.float32)
    size = len(y) if plan.training.batch_size == "inf" else plan.training.batch_size
    order = stream(plan.seed, "mini-batches", user, t).permutation(len(y))
    parts = (order[start : start + size] for start in range(0, len(y), size))
    return [(x[part], y[part]) for part in parts]
