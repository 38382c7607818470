"""The guesses that stand beside every attack: attackers who see no message of the target."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from veilmap.attacks.attack import Attack
from veilmap.attacks.blind import Blind
from veilmap.attacks.density import Density
from veilmap.attacks.prior import Prior
from veilmap.attacks.secure_sum import SUM
from veilmap.maps.kriging_map import K, KrigingMap
from veilmap.maps.square_messages import VISITED
from veilmap.metrics.weighted_points import Weights
from veilmap.square_grid import OUTSIDE, SquareGrid
from veilmap.study.evidence.evidence import Evidence
from veilmap.wording import counted

IN_SUMS = "how often their messages name each square, from the server's own sums"


@dataclass(frozen=True)
class Guesses:
    """The guesses, and what is known of people in general.

    Attributes:
        attacks: by name, ``blind`` first.
        prior: what the prior was made from; or why there is none.
        density: where people are, as a real server knows it; None if it does not.
    """

    attacks: Mapping[str, Attack]
    prior: str
    density: Density | None = None


def guesses_about(evidence: Evidence, target: str) -> Guesses:
    """Those that can be made of one user, or of the sum of all.

    Of a map that is made of sums the prior is what the server's own sums say of everybody else. Of
    another it is where the other users measured, which no real server knows.
    """
    blind: dict[str, Attack] = {Blind.name: Blind()}
    if target == SUM:
        return Guesses(blind, "the sum is of all users, and there is nobody else")
    density = _in_sums(evidence, target) or _measured(evidence, target)
    if density is not None:
        known = None if density.oracle else density
        return Guesses({**blind, Prior.name: Prior(density)}, density.source, known)
    if evidence.truth is None:
        return Guesses(blind, f"nothing is known of other users; {evidence.why_no_truth}")
    return Guesses(blind, "no other user measured in the area")


def _in_sums(evidence: Evidence, target: str) -> Density | None:
    """Visits of all rounds to each public square, less the target's."""
    header, area = evidence.updates.header, evidence.updates.header.side_knowledge.area
    family = header.map
    if not isinstance(family, KrigingMap):
        return None
    if evidence.state is None:
        others = (each.message for each in evidence.updates if each.user != target)
        k = family.added(area, others)[VISITED]
    else:
        own = (each.message for each in evidence.updates.of_user(target))
        k = evidence.state[K].sum(axis=0) - family.added(area, own)[VISITED]
    # Messages that the server refused are in no sum.
    return _density(family.grid(area), np.maximum(k, 0), IN_SUMS, oracle=False)


def _measured(evidence: Evidence, target: str) -> Density | None:
    """Every public square once for each other user who measured there, however long."""
    grid = SquareGrid.of(evidence.updates.header.side_knowledge.area)
    squares: dict[str, set[int]] = {}
    for of_round in (evidence.truth or {}).values():
        for user, data in of_round.items():
            if user not in (target, SUM):
                squares.setdefault(user, set()).update(grid.squares(data.xy_m).tolist())
    k = np.zeros(len(grid))
    for visited in squares.values():
        k[list(visited - {OUTSIDE})] += 1
    who = counted(len(squares), "other user")
    source = f"the squares where {who} measured, once for each, which no real server knows"
    return _density(grid, k, source, oracle=True)


def _density(grid: SquareGrid, k: Weights, source: str, *, oracle: bool) -> Density | None:
    squares = np.flatnonzero(k)
    if not len(squares):
        return None
    return Density(grid.centres_m(squares), k[squares].astype(np.float64), source, oracle)
