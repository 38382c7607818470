"""The four steps of a node in one round; each takes the stage before it and gives the next."""

import os
from collections.abc import Collection, Mapping
from typing import TypeVar

import numpy as np

from veilmap.flower.secure.encoding import Words
from veilmap.flower.secure.envelope import Route, seal, unseal
from veilmap.flower.secure.keys import PrivateKeys, PublicKeys, agree
from veilmap.flower.secure.masks import own_mask, pair_masks
from veilmap.flower.secure.roster import Roster
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.secure.shares import split
from veilmap.flower.secure.stages import (
    SEED_BYTES,
    Advertised,
    Masked,
    Shared,
    SharePair,
    Stage,
    Unmasked,
)
from veilmap.wording import counted

SEALING = b"veilmap secure sum: sealing of shares"

S = TypeVar("S", Advertised, Shared, Masked)


def advertise(context: bytes, me: int) -> tuple[Advertised, PublicKeys]:
    """Step 1: fresh keys for this round; ``context`` names the run and the round."""
    private = PrivateKeys.generate()
    return Advertised(context, me, private), private.public


def share(
    state: Stage, everyone: Mapping[int, PublicKeys], threshold: int
) -> tuple[Shared, dict[int, bytes]]:
    """Step 2: shares of the own mask's seed and of the masking key, sealed for each other node.

    ``Roster`` says how many nodes there must be: with two, each one's update is the sum minus its
    own.
    """
    before = _at(Advertised, state)
    if everyone.get(before.me) != before.private.public:
        raise RoundError(
            f"the keys of node {before.me} came back changed or not at all; it skips this round"
        )
    roster = Roster(before.context, dict(everyone), threshold)
    # Not from veilmap.streams: a mask that can be repeated hides nothing.
    seed = os.urandom(SEED_BYTES)
    pairs = _shares_of(seed, before.private.masking, roster)
    after = Shared(roster, before.me, before.private, seed, pairs.pop(before.me))
    return after, {
        other: seal(pair.raw, _sealing_key(after, other), Route(after.me, other, roster.digest))
        for other, pair in pairs.items()
    }


def mask(state: Stage, vector: Words, sealed: Mapping[int, bytes]) -> tuple[Masked, Words]:
    """Step 3: the vector under its own mask and the pair masks with all nodes that shared, U₂.

    ``sealed`` is what the other nodes sent to this one. Done once a round: two vectors under the
    same masks would show their difference.
    """
    before = _at(Shared, state)
    me, roster = before.me, before.roster
    _check_vector(vector)
    roster.check_enough({me, *sealed}, "the list of nodes that shared")
    if me in sealed:
        raise RoundError(f"node {me} was sent shares in its own name; the round must end")
    shares = {me: before.own}
    for other, text in sealed.items():
        route = Route(other, me, roster.digest)
        shares[other] = SharePair.of(unseal(text, _sealing_key(before, other), route))
    own = own_mask(before.seed, roster.digest, len(vector))
    pairs = pair_masks(roster, before.private.masking, me, sealed, len(vector))
    return Masked(me, roster.threshold, shares), vector + own + pairs


def unmask(state: Stage, survivors: Collection[int]) -> tuple[Unmasked, dict[int, bytes]]:
    """Step 4: shares of the survivors' seeds and of the dropped nodes' masking keys.

    ``survivors`` are the nodes whose masked vectors arrived, U₃. Both secrets of a node together
    reveal its vector, so a node answers for one set of survivors only, and gives the same answer if
    asked again.
    """
    asked = frozenset(survivors)
    if isinstance(state, Unmasked):
        if asked != state.survivors:
            raise RoundError("a node answers for one set of survivors a round, got a second one")
        return state, dict(state.answer)
    before = _at(Masked, state)
    _check_survivors(before, asked)
    answer = {
        node: pair.of_seed if node in asked else pair.of_key for node, pair in before.shares.items()
    }
    return Unmasked(asked, answer), answer


def _at(stage: type[S], state: Stage) -> S:
    if not isinstance(state, stage):
        raise RoundError(
            f"this step starts from {stage.__name__}, and the node stands at"
            f" {type(state).__name__}; every step is done once a round, in order"
        )
    return state


def _shares_of(seed: bytes, key: bytes, roster: Roster) -> dict[int, SharePair]:
    holders = len(roster.places)
    of_seed = split(seed, roster.threshold, holders)
    of_key = split(key, roster.threshold, holders)
    pairs = map(SharePair, of_seed, of_key)
    return dict(zip(roster.places, pairs, strict=True))


def _sealing_key(state: Shared, other: int) -> bytes:
    public = state.roster.keys[other].sealing
    return agree(state.private.sealing, public, SEALING, state.roster.digest)


def _check_vector(vector: Words) -> None:
    # A sum of floats would not wrap around, and show the vector through its mask.
    if vector.dtype != np.uint64 or vector.ndim != 1:
        found = f"{counted(vector.ndim, 'dimension')} of {vector.dtype}"
        raise RoundError(f"a vector must have one dimension of uint64, got {found}; encode it")


def _check_survivors(state: Masked, survivors: frozenset[int]) -> None:
    strangers = sorted(survivors - set(state.shares))
    if strangers:
        raise RoundError(f"survivors must have shared; these have not: {strangers}")
    if state.me not in survivors:
        raise RoundError(f"node {state.me} is asked to unmask a sum without its own vector")
    if len(survivors) < state.threshold:
        raise RoundError(
            f"a sum of {counted(len(survivors), 'node')} is asked for, and {state.threshold} are "
            "required; the round ends without an update"
        )
