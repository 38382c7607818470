"""Where the messages of a round's phones are computed."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veilmap.bounded_executor import map_bounded
from veilmap.defences.declarations import acts_on_points
from veilmap.errors import UserError
from veilmap.federation import verbs
from veilmap.federation.client import dropout, mini_batches
from veilmap.federation.map_family import WEIGHTS, Arrays, papers_network
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData
from veilmap.strategy import as_text

if TYPE_CHECKING:
    import torch

# Phones that are trained, or wait to be taken, per thread: a thread should not wait for the order
# of the users, nor should the updates of all phones be kept.
IN_FLIGHT = 4


@dataclass(frozen=True)
class OnThreads:
    """Each phone on one thread of the processor; the bits do not depend on their number."""

    threads: int

    def messages(
        self, plan: Plan, state: Arrays, batches: Sequence[tuple[str, LocalData]], t: int
    ) -> Iterator[Arrays]:
        """Lines 18-22 of Algorithm 1, in the users' order; some phones ahead of the one taken."""

        def answer(job: tuple[Plan, Arrays, LocalData, str, int]) -> Arrays:
            return verbs.answer(*job)

        jobs = ((plan, state, batch, user, t) for user, batch in batches)
        threads = _useful(self.threads, plan)
        if threads == 1:
            yield from map(answer, jobs)
            return
        with ThreadPoolExecutor(threads) as pool:
            yield from map_bounded(pool, answer, jobs, IN_FLIGHT * threads)


@dataclass(frozen=True)
class OnDevice:
    """Many phones with a dense network at once on a torch device, such as a GPU."""

    device: "torch.device"

    def messages(
        self, plan: Plan, state: Arrays, batches: Sequence[tuple[str, LocalData]], t: int
    ) -> Iterator[Arrays]:
        """The same as on threads but for rounding."""
        from veilmap.model.stacked import Client, sgd_of_many

        network = papers_network(plan.map)
        if network is None:
            raise UserError(
                f"a GPU trains the paper's network alone, got the map {as_text(plan.map)}; leave "
                "out --device"
            )
        trained = sgd_of_many(
            network,
            state[WEIGHTS],
            (
                Client(mini_batches(plan, batch, user, t), dropout(plan, user, t))
                for user, batch in batches
            ),
            epochs=plan.training.epochs,
            learning_rate=plan.training.learning_rate,
            device=self.device,
        )
        return ({WEIGHTS: weights} for weights in trained)


# Makes the messages of many phones from their batches, in the same order.
Trainer = OnThreads | OnDevice


def _useful(threads: int, plan: Plan) -> int:
    """How many of the threads help, and disturb nothing."""
    # Other families may draw from generators that all threads share, as torch's modules do.
    network = papers_network(plan.map)
    if network is None:
        return 1
    # What a step on the update costs the phone is measured, and must be so while nothing else runs.
    if not all(map(acts_on_points, plan.defence.steps)):
        return 1
    from veilmap.model.training import compiled_for

    # Torch's calls are short, and threads wait for Python's lock between them: two use 1.7 cores
    # and are 1.3 times as fast as one, where compiled training is 1.8 times as fast.
    return threads if compiled_for(network) else min(threads, 2)
