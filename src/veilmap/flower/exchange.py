"""What server and nodes send each other for one kind of map, singly and in a secure sum."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from veilmap.defences.step import Step
from veilmap.errors import UserError
from veilmap.federation.map_family import WEIGHTS, Additive, Arrays, flat_change
from veilmap.federation.plan import Plan
from veilmap.federation.update_validation import Refusal, UpdateLimits, usual_norm
from veilmap.flower.secure.encoding import Words, decode, encode, fixed_point, real_numbers
from veilmap.flower.secure.round_error import RoundError


@dataclass(frozen=True)
class Update:
    """A node's message, and n_t^k; or those of a sum."""

    message: Arrays
    n: int


class Exchange(Protocol):
    """The arrays of a kind of map on their way between server and nodes.

    Attributes:
        sends_n: whether n_t^k is sent beside the message.
        counts: the noun for what n counts.
    """

    @property
    def sends_n(self) -> bool: ...
    @property
    def counts(self) -> str: ...

    @property
    def length(self) -> int:
        """The number of elements of a vector in a secure sum."""

    def state(self, received: Arrays) -> Arrays:
        """What a node takes of the arrays of a request; an error if they are not of the map."""

    def message(self, received: Arrays) -> Arrays:
        """What the server takes of the arrays of an answer, before they are validated."""

    def vector(self, state: Arrays, sent: Update | None) -> Words:
        """What a node adds to a secure sum, which with nothing to send is zero."""

    def total(self, state: Arrays, words: Words, nodes: int) -> Update:
        """The sum over so many nodes; ``RoundError`` if it cannot be one."""

    def sum_refusal(self, update: Update, state: Arrays, nodes: int) -> Refusal | None:
        """Why the server does not take a sum; None if it does."""

    def most_norm(self, given: float | None, steps: Sequence[Step]) -> float:
        """The largest norm of an accepted update: the operator's, or what proposed steps need."""


def fingerprint(state: Arrays) -> bytes:
    """A digest of the arrays that nodes get."""
    digest = sha256()
    for name, values in sorted(state.items()):
        digest.update(f"{name} {values.dtype.str} {values.shape};".encode())
        digest.update(values.tobytes())
    return digest.digest()


def exchange_of(plan: Plan) -> Exchange:
    """That of the plan's map, which nodes must know."""
    if isinstance(plan.map, Additive):
        return AddedMessages(plan, plan.map)
    return AveragedWeights(plan)


@dataclass(frozen=True)
class AveragedWeights:
    """Nodes get w_{t-1} and send w_t^k and n_t^k; the sum is the weighted one of their updates."""

    plan: Plan

    sends_n: ClassVar[bool] = True
    counts: ClassVar[str] = "point"

    @property
    def length(self) -> int:
        """n_k Δ_k, and n_k."""
        return self.plan.network.size + 1

    def state(self, received: Arrays) -> Arrays:
        """w_{t-1}."""
        (weights,) = (found := self.message(received)).values()
        size = self.plan.network.size
        if weights.shape != (size,) or not np.isfinite(weights).all():
            raise UserError(
                f"the request has weights of shape {weights.shape}; they must be finite and "
                f"{size:,}"
            )
        return found

    def message(self, received: Arrays) -> Arrays:
        """The weights alone."""
        weights = received[WEIGHTS]
        if weights.dtype != np.float32:
            raise TypeError(f"{WEIGHTS} that are not float32")
        return {WEIGHTS: weights}

    def vector(self, state: Arrays, sent: Update | None) -> Words:
        """n_k Δ_k, and n_k."""
        sent = Update(state, 0) if sent is None else sent
        return encode(flat_change(state, sent.message), sent.n)

    def total(self, state: Arrays, words: Words, nodes: int) -> Update:
        """w_t = w_{t-1} + Σ n_t^k/n_t Δ_k, and n_t."""
        mean, n = decode(words)
        after = (state[WEIGHTS].astype(np.float64) + mean).astype(np.float32)
        return Update({WEIGHTS: after}, n)

    def sum_refusal(self, update: Update, state: Arrays, nodes: int) -> Refusal | None:
        """As a single update's, which may have the points of all nodes."""
        limits = self.plan.update_limits
        limits = replace(limits, most_points=limits.most_points * nodes)
        return limits.refusal(update.message, update.n, state)

    def most_norm(self, given: float | None, steps: Sequence[Step]) -> float:
        """By default what the noise of the steps adds, too."""
        return usual_norm(self.plan.network, steps) if given is None else given


@dataclass(frozen=True)
class AddedMessages:
    """Nodes get nothing and send what is only added up; in a sum all squares, whatever was sent."""

    plan: Plan
    family: Additive

    sends_n: ClassVar[bool] = False
    counts: ClassVar[str] = "square"

    @property
    def length(self) -> int:
        """Of all arrays of a sum."""
        return sum(values.size for values in self._zero.values())

    def state(self, received: Arrays) -> Arrays:
        """None: a message does not depend on it."""
        return {}

    def message(self, received: Arrays) -> Arrays:
        """All, of which the map then says what is wrong."""
        return received

    def vector(self, state: Arrays, sent: Update | None) -> Words:
        """The sum of one message or of none, without any number of points."""
        added = self.family.added(self.plan.area, [] if sent is None else [sent.message])
        flat = np.concatenate([np.ravel(added[name]) for name in sorted(added)])
        return fixed_point(flat.astype(np.float64), "a message", "its values")

    def total(self, state: Arrays, words: Words, nodes: int) -> Update:
        """The sum of all messages; implausible if a node's vector was no message."""
        total, values = dict[str, NDArray[np.float64]](), real_numbers(words)
        for name, zero in sorted(self._zero.items()):
            total[name], values = values[: zero.size].reshape(zero.shape), values[zero.size :]
        if (fault := self.family.sum_fault(self.plan, total, nodes)) is not None:
            raise RoundError(f"the sum is implausible ({fault}): a node has sent garbage")
        # In the types of a sum in the clear.
        message = self.family.added(self.plan.area, [total])
        return Update(message, self.family.message_size(self.plan, message))

    def sum_refusal(self, update: Update, state: Arrays, nodes: int) -> Refusal | None:
        """A sum that ``total`` gives is plausible."""
        return None

    def most_norm(self, given: float | None, steps: Sequence[Step]) -> float:
        """Any, for it has no effect: the map itself says what a message may hold."""
        if given is not None:
            raise UserError(
                f"the map {self.plan.map.name} has no setting --most-norm; leave it out: a message "
                "holds 0 or 1 visit of each square, and a signal at most 255 dB from the offset"
            )
        return UpdateLimits.most_norm

    @property
    def _zero(self) -> Arrays:
        return self.family.added(self.plan.area, ())
