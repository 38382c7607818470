"""What the server saw, on disk or in memory, and what is known of the truth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from veilmap.defences.declarations import acts_on_points
from veilmap.defences.step import Step
from veilmap.federation.map_family import Arrays
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.local_data import Truth
from veilmap.study.prepare import Prepared
from veilmap.transcript import Entry, Transcript


@dataclass(frozen=True)
class KeptUpdates:
    """Updates in memory, read as those of a ``Transcript`` on disk are."""

    header: Header
    observations: Sequence[Observation]

    def __iter__(self) -> Iterator[Observation]:
        return iter(self.observations)

    def of_user(self, user: str) -> Iterator[Observation]:
        """What one user sent."""
        return (each for each in self.observations if each.user == user)

    def entries(self) -> Iterator[Entry]:
        """Who came when with how many points."""
        return (Entry(each.round, each.start_s, each.user, each.n) for each in self.observations)


Updates = Transcript | KeptUpdates


@dataclass(frozen=True)
class Evidence:
    """What an attack starts from.

    Attributes:
        path: the folder it was read from; None in memory.
        updates: what the server saw.
        configuration: how the map was trained.
        timezone: the clock that home and work go by.
        truth: what each user measured in each round; None if it is not known.
        why_no_truth: and why not.
        batches: the points that updates were made from, where they are known; a defence chooses
            and moves points, and may alter the update.
        refused: why the server refused the updates of some users, where the run says so.
        steps: of the defence; None if its texts in the header are all that is known.
        state: the server's last state, where the updates may be those of some users only.
    """

    path: Path | None
    updates: Updates
    configuration: str
    timezone: str
    truth: Truth | None
    why_no_truth: str = ""
    batches: Truth = field(default_factory=dict, repr=False)
    refused: Mapping[str, str] = field(default_factory=dict)
    state: Arrays | None = field(default=None, repr=False)
    steps: tuple[Step, ...] | None = None


def evidence_of(
    prepared: Prepared,
    observations: Sequence[Observation],
    batches: Truth | None = None,
    state: Arrays | None = None,
) -> Evidence:
    """Of a run in memory.

    Args:
        prepared: the run.
        observations: what its server saw, as far as it was kept.
        batches: the points that were trained on.
        state: the server's last, if the observations are not those of all users.
    """
    unaltered = all(map(acts_on_points, prepared.plan.defence.steps))
    return Evidence(
        None,
        KeptUpdates(prepared.header, observations),
        prepared.settings.configuration,
        prepared.data.timezone,
        truth_of(prepared),
        batches=batches if batches and unaltered else {},
        state=state,
        steps=prepared.plan.defence.steps,
    )


def truth_of(prepared: Prepared) -> Truth:
    """What each user measured in each round."""
    # A later round of cumulative training repeats the data; the truth of a round is its own data.
    return {this.number: this.data for this in prepared.rounds}
