"""The server's part of a round: relay sealed shares, add masked vectors, remove the masks.

All of it is a function of what the nodes sent; the server has no secret of its own.
"""

from collections.abc import Collection, Mapping

import numpy as np

from veilmap.flower.secure.encoding import Words
from veilmap.flower.secure.keys import KEY_BYTES, public_of
from veilmap.flower.secure.masks import own_mask, pair_masks
from veilmap.flower.secure.roster import Roster
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.secure.shares import combine
from veilmap.flower.secure.stages import SEED_BYTES


def relay(roster: Roster, sealed: Mapping[int, Mapping[int, bytes]]) -> dict[int, dict[int, bytes]]:
    """From sender → receiver → shares to receiver → sender → shares, among the sharing nodes (U₂).

    Nodes that dropped out before sharing get nothing, and no node masks with them.
    """
    roster.check_enough(sealed, "the list of nodes that shared")
    for sender, letters in sealed.items():
        if set(letters) != set(roster.keys) - {sender}:
            raise RoundError(
                f"node {sender} must send shares to every other node, and to no others"
            )
    return {
        receiver: {sender: sealed[sender][receiver] for sender in sealed if sender != receiver}
        for receiver in sealed
    }


def reveal(
    roster: Roster,
    shared: Collection[int],
    masked: Mapping[int, Words],
    answers: Mapping[int, Mapping[int, bytes]],
) -> Words:
    """The sum of the survivors' vectors, without any mask.

    Args:
        roster: the round.
        shared: the nodes that shared, U₂; they masked with each other.
        masked: the vectors of the survivors, U₃.
        answers: from survivor to the result of its ``unmask``; the threshold of them is enough.
    """
    _check(roster, shared, masked, answers)
    digest, length = roster.digest, len(next(iter(masked.values())))
    total = np.zeros(length, np.uint64)
    for node, vector in masked.items():
        total += vector - own_mask(_rebuilt(roster, answers, node), digest, length)
    for node in set(shared) - set(masked):
        key = _rebuilt(roster, answers, node)
        if public_of(key) != roster.keys[node].masking:
            raise RoundError(f"the shares do not give the key of node {node}; one of them is wrong")
        # They cancel the survivors' masks with the node that dropped out.
        total += pair_masks(roster, key, node, masked, length)
    return total


def _rebuilt(roster: Roster, answers: Mapping[int, Mapping[int, bytes]], node: int) -> bytes:
    shares = {roster.places[holder]: answer[node] for holder, answer in answers.items()}
    return combine(shares, roster.threshold)


def _check(
    roster: Roster,
    shared: Collection[int],
    masked: Mapping[int, Words],
    answers: Mapping[int, Mapping[int, bytes]],
) -> None:
    roster.check_enough(masked, "the list of masked vectors")
    roster.check_enough(answers, "the list of answers with shares")
    if not set(answers) <= set(masked) <= set(shared):
        raise RoundError("answers must come from survivors, and survivors must have shared")
    if len({vector.shape for vector in masked.values()}) > 1:
        raise RoundError(
            "the masked vectors differ in length; all nodes must train the same network"
        )
    sizes = {node: SEED_BYTES if node in masked else KEY_BYTES for node in shared}
    for holder, answer in answers.items():
        if {node: len(share) for node, share in answer.items()} != sizes:
            raise RoundError(
                f"node {holder} sent other shares than asked for; the sum stays masked"
            )
