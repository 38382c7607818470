"""What the phones of shadow people send: the code of real phones, with seeds of their own."""

from collections.abc import Callable, Iterator, Sequence

from veilmap.attacks.person import Person
from veilmap.attacks.secure_sum import secure_sum
from veilmap.defences.memory import NEW
from veilmap.federation.observation import Observation
from veilmap.federation.phone import answer
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData
from veilmap.shadows.scene import Scene


def answers(scene: Scene, plan: Plan, person: Person) -> list[Observation]:
    """The messages of one phone, round after round; none of a round that its defence leaves empty.

    With cumulative training a phone trains on all its data so far.
    """
    memory, seen, past = NEW, list[Observation](), list[LocalData]()
    for place, (t, data) in enumerate(sorted(person.rounds.items())):
        past.append(data)
        batch = LocalData.join(past) if plan.training.cumulative else data
        state = scene.state(place)
        reply = answer(plan, plan.shown(state), batch, person.user, t, memory)
        memory = reply.memory
        if reply.message is None or plan.refusal(reply.message, reply.n, state) is not None:
            continue
        n = plan.message_size(reply.message, reply.n)
        start_s = (t - 1) * scene.header.side_knowledge.interval_s
        seen.append(Observation(t, person.user, state, reply.message, n, start_s))
    return seen


def all_answers(
    scene: Scene, people: Sequence[Person], seed: int, on_done: Callable[[int], None]
) -> Iterator[list[Observation]]:
    """The messages of each person in turn; steps may learn from the first rounds of the others."""
    public = {each.user: next(iter(each.rounds.values())) for each in people}
    plan = scene.plan(seed, public)
    for person in people:
        yield answers(scene, plan, person)
        on_done(1)


def summed(scene: Scene, everyone: Sequence[Sequence[Observation]]) -> list[Observation]:
    """The secure sums of all of them, round by round."""
    seen = sorted((each for own in everyone for each in own), key=lambda each: each.round)
    return list(secure_sum(scene.header, seen))
