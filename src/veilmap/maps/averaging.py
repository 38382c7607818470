"""Line 12 of Algorithm 1 for families that send weights."""

from collections.abc import Iterable

from veilmap.federation.map_family import WEIGHTS, Arrays, Sent
from veilmap.federation.plan import Plan


def averaged(plan: Plan, state: Arrays, messages: Iterable[Sent], senders: int) -> Arrays:
    """w_t by the rule of ``plan.training``: the mean by points, a median or a trimmed mean."""
    total = plan.training.aggregate(state[WEIGHTS], senders)
    for sent in messages:
        total.add(sent.user, sent.message[WEIGHTS], sent.n)
    return {WEIGHTS: total.weights()}
