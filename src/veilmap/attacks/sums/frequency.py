"""The squares that a phone comes back to: home is where it is in most rounds."""

import time
from dataclasses import dataclass

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.attacks.sums.history import History, reads_squares
from veilmap.federation.side_knowledge import Header


@dataclass(frozen=True)
class Frequency:
    """The visited squares of each message, weighted by the rounds in which they were visited.

    Pooled over rounds a square weighs f², f the number of rounds that name it, so that the disc
    that holds most is where squares come back round after round. In a secure sum a visit counts
    its share of the most visits that a square of the round has. The location is the cloud's mean.
    """

    name = "frequency"
    oracle = False
    all_at_once = True

    def reads(self, header: Header) -> bool:
        """Messages of the kriging map alone."""
        return reads_squares(header)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per message, each with its own squares."""
        before = time.perf_counter()
        history = History.of(given.header, given.observations)
        found = []
        for observation, visits in zip(given.observations, history.rounds, strict=True):
            if not len(visits):
                found.append(Reconstruction.nothing(observation))
                continue
            weights = visits.k * history.often[visits.squares]
            cloud = Cloud(history.grid.centres_m(visits.squares), weights / weights.sum())
            seconds = (time.perf_counter() - before) / len(given.observations)
            found.append(Reconstruction.of(observation, cloud.mean_m, seconds=seconds, cloud=cloud))
        given.on_done(len(found))
        return found
