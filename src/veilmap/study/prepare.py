"""From measurements and settings to what the federation needs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from veilmap.area import Area
from veilmap.defences.defence import Defence
from veilmap.errors import UserError, shown
from veilmap.federation.plan import Plan
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import LocalData, Round, Scaler
from veilmap.measurements import Measurements
from veilmap.metrics.map_errors import TestSet
from veilmap.rounds import by_user, cumulative, cut, parse_interval, pooled
from veilmap.streams import stream
from veilmap.study.protection import Protection
from veilmap.study.settings import RunSettings, Task
from veilmap.study.yardstick import Yardstick
from veilmap.wording import listed

# Of the training data, for defences that learn from a public sample: the larger of the two shares
# from which the paper's App. B lets an attacker learn the mean signal.
PUBLIC_SHARE = 0.1


@dataclass(frozen=True)
class Prepared:
    """One cell's data in rounds, the test data, and the plan that all sides agree on."""

    settings: RunSettings
    data: Measurements
    plan: Plan
    rounds: tuple[Round, ...]
    users: tuple[str, ...]
    test: LocalData
    yardstick: Yardstick

    @property
    def rmse_constant_db(self) -> float:
        """Of the training data's mean as the only prediction."""
        return self.yardstick.constant.rmse_db

    @property
    def cell(self) -> str:
        return self.plan.cell

    @property
    def training_rounds(self) -> Iterable[Round]:
        """What the phones train on in each round: its data, or all data up to it."""
        return cumulative(self.rounds) if self.plan.training.cumulative else self.rounds

    @property
    def header(self) -> Header:
        """What the server knows besides the updates."""
        known = SideKnowledge(
            self.plan.scaler,
            self.plan.area,
            self.data.projection.epsg,
            self.plan.label_offset_dbm,
            self.plan.training,
            parse_interval(self.settings.task.interval),
            self.settings.task.oracle,
            self.settings.protection.texts,
            self.settings.protection.defended,
        )
        return Header(self.plan.map, known)

    def in_area(self, area: Area) -> "Prepared":
        """The same with another public area, and the scaler that goes with it."""
        by_area = self.settings.task.scaler == "area"
        scaler = Scaler.of_area(area) if by_area else self.plan.scaler
        return replace(self, plan=replace(self.plan, area=area, scaler=scaler))


def prepare(data: Measurements, settings: RunSettings) -> Prepared:
    """Pick the cell, set test data aside, cut the rest into rounds, fix the plan."""
    task = settings.task
    of_cell = data.of_cell(task.cell)
    training, test = settings.test.apply(of_cell, task.seed)
    points, test_points = pooled(training), pooled(test)
    area, mean_dbm = _area(of_cell, task), float(points.rsrp_dbm.mean())
    refuse_unknown_users(settings.protection.defended, training.users, "be defended")
    refuse_unknown_users(settings.robustness.kinds, training.users, "have a broken phone")
    rounds = cut(training, parse_interval(task.interval), of_cell.first)
    constant = TestSet(test_points).constant_errors(points)
    return Prepared(
        settings=settings,
        data=of_cell,
        plan=Plan(
            map=settings.map,
            scaler=Scaler.of_area(area) if task.scaler == "area" else Scaler.fitted(points.xy_m),
            area=area,
            training=settings.training,
            label_offset_dbm=_label_offset_dbm(task, mean_dbm),
            seed=task.seed,
            defence=_defence(settings.protection, training, task.seed),
            cell=str(training.table["cell"][0]),
            update_limits=settings.robustness.update_limits,
            broken=settings.robustness.kinds,
        ),
        rounds=rounds,
        users=tuple(sorted(training.users)),
        test=test_points,
        yardstick=Yardstick(constant, rounds, test_points),
    )


def _defence(protection: Protection, training: Measurements, seed: int) -> Defence:
    public = _public_sample(training, seed) if protection.oracle else {}
    return Defence(protection.steps, protection.defended or None, public)


def refuse_unknown_users(wanted: Iterable[str], users: Iterable[str], fate: str) -> None:
    """Raise if a user whom settings name has no training data."""
    unknown = sorted(set(wanted) - set(users))
    if unknown:
        raise UserError(
            f"user {shown(unknown[0])} is to {fate} and has no training data in the cell; "
            f"choose one of: {listed(sorted(users))}"
        )


def _public_sample(training: Measurements, seed: int) -> dict[str, LocalData]:
    """Single rows at random, by user."""
    count = max(round(PUBLIC_SHARE * len(training)), 1)
    chosen = np.zeros(len(training), bool)
    chosen[stream(seed, "public sample").permutation(len(training))[:count]] = True
    sample = training.keep(pl.Series(chosen))
    measured = by_user(sample)
    return {user: measured[user] for user in sample.users}


def _area(data: Measurements, task: Task) -> Area:
    xy_m = data.xy_m
    if task.area is None:
        return Area.around(xy_m)
    area = data.projection.area_of_box(*task.area)
    inside = float(area.contains(xy_m).mean())
    if inside < 0.5:
        raise UserError(
            f"only {inside:.0%} of the cell's measurements lie in the area {task.area}; "
            "check its order, west south east north, or leave --area out"
        )
    return area


def _label_offset_dbm(task: Task, mean_dbm: float) -> float:
    if task.label_offset_dbm == "mean":
        return float(round(mean_dbm))
    return 0.0 if task.label_offset_dbm == "none" else float(task.label_offset_dbm)
