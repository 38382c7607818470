"""The measurements of a sweep with each user's role: the target, and the users similar to it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.errors import UserError, shown
from veilmap.measurements import Measurements
from veilmap.metrics.transport import emd_m
from veilmap.streams import stream
from veilmap.wording import counted, listed

EVERYBODY = "all"
TARGET = "target"
_ROLES = "all, target, similar:1, dissimilar, background, or a user's name"
# Directions and points for ranking users by how alike they are.
_PROJECTIONS, _POINTS = 60, 2000


@dataclass(frozen=True)
class Given:
    """Measurements in place of those that a spec names, if any, and what in them is meant."""

    data: Measurements | None = None
    cell: str | None = None
    target: str | None = None

    def __post_init__(self) -> None:
        if self.data is None and (self.cell is not None or self.target is not None):
            raise UserError("cell and target are of other data; give those too, or leave them out")


@dataclass(frozen=True)
class Cohort:
    """One cell's measurements and who is who in them.

    Attributes:
        data: of one cell.
        target: the user who is attacked.
        similar: users by likeness to the target, the most alike first.
        dissimilar: the one least like the target.
        background: everybody without another role, or the one who stands for them.
        area_of: the roles of those whose measurements the area is around.
    """

    data: Measurements = field(repr=False)
    target: str
    similar: tuple[str, ...] = ()
    dissimilar: str | None = None
    background: tuple[str, ...] = ()
    area_of: tuple[str, ...] = (EVERYBODY,)

    @classmethod
    def found(cls, data: Measurements, target: str | None) -> "Cohort":
        """Roles by how alike users are: the EMD between where they measured."""
        target = _known(data, target) if target else data.users[0]
        others = _by_likeness(data, target)
        # A single other user is similar; of several the last is dissimilar.
        similar = others[: max(len(others) - 1, 1)][:3]
        dissimilar = others[-1] if len(others) > 1 else None
        return cls(data, target, tuple(similar), dissimilar, tuple(others[3:-1]))

    def users(self, roles: Sequence[str]) -> tuple[str, ...]:
        """The users that the roles stand for, in order of their names.

        Raises:
            UserError: a role is unknown, or no user of these data has it.
        """
        return tuple(sorted({user for role in roles for user in self._of_role(role)}))

    @cached_property
    def area(self) -> Area:
        """Where the attacker looks, whoever takes part."""
        return Area.around(self.of(self.users(self.area_of)).xy_m)

    def of(self, users: Sequence[str]) -> Measurements:
        """What these users measured."""
        return self.data.keep(pl.col("user").is_in(list(users)))

    def mean_dbm(self, of_whom: str, seed: int) -> float:
        """The mean signal of the target, of the cell, or of a share of the cell such as ``1%``."""
        if of_whom == TARGET:
            return _mean_dbm(self.of([self.target]))
        if of_whom == "cell":
            return _mean_dbm(self.data)
        try:
            share = float(of_whom.removesuffix("%")) / 100
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            raise UserError(
                f"label must be 'target', 'cell' or a share such as '1%', got {shown(of_whom)}"
            )
        count = max(round(share * len(self.data)), 1)
        rows = stream(seed, "public mean").permutation(len(self.data))[:count]
        return float(self.data.table["rsrp_dbm"].to_numpy()[rows].mean())

    def _of_role(self, role: str) -> tuple[str, ...]:
        roles = {
            EVERYBODY: tuple(self.data.users),
            TARGET: (self.target,),
            "similar": self.similar,
            "dissimilar": (self.dissimilar,) if self.dissimilar else (),
            "background": self.background,
        }
        ranked = re.fullmatch(r"similar:([1-9]\d*)", role)
        if ranked:
            found = self.similar[int(ranked[1]) - 1 :][:1]
        elif role in roles or role in self.data.users:
            found = roles.get(role, (role,))
        else:
            raise UserError(f"unknown user or role {shown(role)}; choose from: {_ROLES}")
        if not found:
            count = len(self.data.users)
            raise UserError(f"no user is {role} among the {counted(count, 'user')} of the cell")
        return found


def _known(data: Measurements, user: str) -> str:
    """The user of that name, or whose name begins so."""
    if user in data.users:
        return user
    fitting = [each for each in data.users if each.startswith(user)]
    if len(fitting) != 1:
        raise UserError(
            f"target {shown(user)} matches {counted(len(fitting), 'user')} of the cell; choose one "
            f"of: {listed(data.users)}"
        )
    return fitting[0]


def _by_likeness(data: Measurements, target: str) -> list[str]:
    """The other users who measured something, the most like the target first."""
    mine = _some(data, target)
    others = [user for user in data.users if user != target]
    away = {user: emd_m(mine, _some(data, user), projections=_PROJECTIONS) for user in others}
    return sorted(others, key=away.__getitem__)


def _some(data: Measurements, user: str) -> NDArray[np.float64]:
    xy_m = data.keep(pl.col("user") == user).xy_m
    return xy_m[:: len(xy_m) // _POINTS + 1]


def _mean_dbm(data: Measurements) -> float:
    return float(data.table["rsrp_dbm"].to_numpy().mean())
