"""What a server saw, wherever it is kept: on disk it is a transcript, in memory a list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.transcript import Entry


class Updates(Protocol):
    """What a server saw, on disk or in memory."""

    @property
    def header(self) -> Header:
        """The network and the side knowledge."""

    def __iter__(self) -> Iterator[Observation]: ...

    def of_user(self, user: str) -> Iterator[Observation]:
        """What one user sent."""

    def entries(self) -> Iterator[Entry]:
        """Who came when with how many points."""


@dataclass(frozen=True)
class Recorded:
    """What a server saw, in memory.

    ``senders`` are those in it, where the observations are sums of several.
    """

    header: Header
    observations: Sequence[Observation]
    senders: Sequence[Entry] = ()

    def __iter__(self) -> Iterator[Observation]:
        return iter(self.observations)

    def of_user(self, user: str) -> Iterator[Observation]:
        """What one user sent."""
        return (each for each in self.observations if each.user == user)

    def entries(self) -> Iterator[Entry]:
        """Who came when with how many points."""
        if self.senders:
            return iter(self.senders)
        return (Entry(each.round, each.start_s, each.user, each.n) for each in self.observations)
