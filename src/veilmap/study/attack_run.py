"""The result of an attack on one user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from veilmap.area import Area
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.federation.side_knowledge import Header
from veilmap.local_data import LocalData
from veilmap.metrics.scores import Scores
from veilmap.study.attack_settings import AttackSettings
from veilmap.theory import PredictedError

Reconstructions = Mapping[str, Sequence[Reconstruction]]
RoundTruth = Mapping[int, LocalData]


@dataclass(frozen=True)
class AttackRun:
    """What the server found out about one user.

    Attributes:
        path: what was attacked.
        header: the network and what the server knew besides the updates.
        configuration: how it was trained.
        settings: of the attacks.
        target: the user, or that all were seen as one sum.
        truth: all points of the target by round; None if they are not known.
        why_no_truth: and why not.
        timezone: the clock that nights go by.
        every: all reconstructions by method; several for a round that had several starts.
        scores: the figures by method.
        guesses: those of attackers who see no message, ``blind`` and, where it can be, ``prior``.
        prior: what the prior was made from; or why there is none.
        norms: of the leaked gradient, by round and layer.
        predicted: what Theorems 1 and 2 say of each round, if asked for.
        oracle: what was used that no server has.
        unread: the attacks left out because they cannot read this kind of map.
        also: the runs of other towers whose messages were attacked with these.
    """

    path: str
    header: Header = field(repr=False)
    configuration: str
    settings: AttackSettings
    target: str
    truth: RoundTruth | None = field(repr=False)
    why_no_truth: str
    timezone: str
    every: Reconstructions = field(repr=False)
    scores: Mapping[str, Scores]
    guesses: Mapping[str, Scores]
    prior: str
    norms: Mapping[int, tuple[float, ...]] = field(repr=False)
    predicted: Mapping[int, PredictedError | None] = field(repr=False)
    oracle: tuple[str, ...]
    unread: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def found(self) -> Reconstructions:
        """One reconstruction per round: of several starts the one with the best cosine."""
        return {name: best_starts(every) for name, every in self.every.items()}

    @property
    def area(self) -> Area:
        return self.header.side_knowledge.area


def best_starts(every: Sequence[Reconstruction]) -> list[Reconstruction]:
    """The attacker keeps the start that explains a round's update best."""
    best: dict[tuple[int, str], Reconstruction] = {}
    for each in every:
        key = (each.round, each.user)
        if key not in best or each.cosine > best[key].cosine:
            best[key] = each
    return list(best.values())
