"""What a server sees under secure aggregation, while it comes: the sum of each round alone."""

from veilmap.attacks.secure_sum import SUM
from veilmap.federation.average import Average
from veilmap.federation.observation import Observation
from veilmap.transcript import Entry


class SumRecorder:
    """Keeps in memory one update per round, and who was in it with how many points.

    The same as ``secure_sum`` of all updates, none of which is kept.
    """

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self.entries: list[Entry] = []
        self._average: Average | None = None

    def see(self, observation: Observation) -> None:
        """Add it to the sum."""
        each = observation
        self.entries.append(Entry(each.round, each.start_s, each.user, each.n))
        if self._average is None:
            self._average, self._first = Average(each.weights_before), each
        self._average.add(each.user, each.weights_after, each.n)

    def end_round(self) -> None:
        """Keep the sum, if anybody sent."""
        if self._average is None:
            return
        first, n = self._first, sum(self._average.n.values())
        self.observations.append(
            Observation.of_weights(
                first.round, SUM, first.weights_before, self._average.weights(), n, first.start_s
            )
        )
        self._average = None
