"""What decides the messages of phones and is public: shadows live in the same scene."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.secure_sum import SUM
from veilmap.defences.defence import Defence
from veilmap.defences.step import Step
from veilmap.federation.map_family import Additive, Arrays
from veilmap.federation.plan import Plan
from veilmap.federation.side_knowledge import Header
from veilmap.local_data import LocalData

FEWEST_ROUNDS = 16


@dataclass(frozen=True)
class Scene:
    """A run as its server knows it.

    Attributes:
        header: the map and the side knowledge.
        steps: of the defence that the attacked phone takes.
        rounds: about how many lie between the first and the last that are attacked: a power of
            two, so that the targets of one run are of one scene.
        is_sum: whether only sums of all phones are seen.
        knows_density: whether the attacker knows where people in general are.
        states: of the server, round by round; none of maps whose messages do not depend on it.
    """

    header: Header
    steps: tuple[Step, ...]
    rounds: int
    is_sum: bool
    knows_density: bool
    states: tuple[Arrays, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, given: AttackInput, steps: Sequence[Step]) -> "Scene":
        """Of what an attack is given."""
        seen, header = given.observations, given.header
        numbers = [each.round for each in seen]
        states = () if isinstance(header.map, Additive) else tuple(each.state for each in seen)
        is_sum = seen[0].user == SUM
        span = max(numbers) - min(numbers) + 1
        rounds = max(2 ** (span - 1).bit_length(), FEWEST_ROUNDS)
        return cls(header, tuple(steps), rounds, is_sum, given.density is not None, states)

    def plan(self, seed: int, public: dict[str, LocalData]) -> Plan:
        """For phones with random streams of their own; steps may learn from a public sample."""
        known = self.header.side_knowledge
        return Plan(
            map=self.header.map,
            scaler=known.scaler,
            area=known.area,
            training=known.training,
            label_offset_dbm=known.label_offset_dbm,
            seed=seed,
            defence=Defence(self.steps, None, public),
            cell="shadows",
        )

    def state(self, place: int) -> Arrays:
        """That of a phone's round, counted from 0; they come again where a phone has more."""
        return self.states[place % len(self.states)] if self.states else {}
