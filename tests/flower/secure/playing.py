"""A whole round in one process, with nodes that leave at a chosen step."""

from dataclasses import dataclass, field

import numpy as np

from veilmap.flower.secure.collector import relay, reveal
from veilmap.flower.secure.participant import advertise, mask, share, unmask
from veilmap.flower.secure.roster import Roster

CONTEXT = b"run 1, round 7"
# The largest id that Flower can give, one beyond what a signed integer holds, and small ones.
IDS = [2**64 - 1, 2**63, 1, *range(100, 200)]


@dataclass
class Play:
    """What lies on the table after each step; a test reads it, changes it, and goes on."""

    count: int
    threshold: int
    length: int = 4
    context: bytes = CONTEXT
    vectors: dict = field(default_factory=dict)
    states: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    letters: dict = field(default_factory=dict)
    masked: dict = field(default_factory=dict)
    answers: dict = field(default_factory=dict)

    @property
    def nodes(self):
        return IDS[: self.count]

    @property
    def roster(self):
        return Roster(self.context, self.keys, self.threshold)

    def advertise(self):
        draw = np.random.default_rng(0)
        for node in self.nodes:
            self.states[node], self.keys[node] = advertise(self.context, node)
            self.vectors[node] = draw.integers(0, 2**64, self.length, np.uint64)
        return self

    def share(self, without=()):
        for node in set(self.nodes) - set(without):
            self.states[node], self.letters[node] = share(
                self.states[node], self.keys, self.threshold
            )
        return self

    def mask(self, without=()):
        delivered = relay(self.roster, self.letters)
        for node in set(self.letters) - set(without):
            self.states[node], self.masked[node] = mask(
                self.states[node], self.vectors[node], delivered[node]
            )
        return self

    def unmask(self, without=()):
        for node in set(self.masked) - set(without):
            self.states[node], self.answers[node] = unmask(self.states[node], set(self.masked))
        return self

    def reveal(self):
        return reveal(self.roster, set(self.letters), self.masked, self.answers)

    def plain_sum(self):
        """The sum modulo 2⁶⁴ of those whose masked vectors arrived, in Python's integers."""
        chosen = [self.vectors[node].tolist() for node in self.masked]
        return [sum(column) % 2**64 for column in zip(*chosen, strict=True)]


def masked_round(count=5, threshold=3, **others):
    return Play(count, threshold, **others).advertise().share().mask()
