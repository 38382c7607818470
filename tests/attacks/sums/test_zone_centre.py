from dataclasses import dataclass

import numpy as np
import pytest

from tests.attacks.sums.making import batch_at, given_of, header_of, heaviest_m, history_of
from tests.maps.walks import make_plan
from veilmap.area import Area
from veilmap.attacks.sums.posterior import Posterior
from veilmap.attacks.sums.zone_centre import (
    RADII_M,
    SECTORS,
    Zone,
    ZoneCentre,
    nearest_by_direction_m,
    zones_of,
)
from veilmap.defences.defence import Defence
from veilmap.defences.step import Turn
from veilmap.errors import UserError
from veilmap.local_data import Scaler
from veilmap.strategy import as_text

AREA = Area(0.0, 0.0, 2000.0, 1600.0)
PLAN = make_plan(AREA, square_m=25.0)
HOME = np.array([1300.0, 700.0])


@dataclass(frozen=True)
class Disc:
    """Leave out all points in a disc around a secret centre, as a stranger writes it."""

    radius_m: float = 300.0
    guard_m: float = 200.0
    name = "disc"

    def centre_m(self, turn):
        draw = np.random.default_rng([turn.seed, 5])
        angle, far_m = draw.uniform(0, 2 * np.pi), self.radius_m - self.guard_m
        return HOME + far_m * np.sqrt(draw.uniform()) * np.array([np.cos(angle), np.sin(angle)])

    def on_points(self, batch, turn):
        away_m = np.hypot(*(batch.xy_m - self.centre_m(turn)).T)
        return batch.take(np.flatnonzero(away_m > self.radius_m)), {}


def turn_of(seed, t=1):
    return Turn("a", t, seed, AREA, Scaler.of_area(AREA))


def walks_home(seed, rounds=8):
    """Every round six walks from anywhere to home in straight lines, and a night there."""
    draw = np.random.default_rng(seed)
    for _ in range(rounds):
        starts = draw.uniform(*AREA.corners_m, (6, 2))
        steps = np.linspace(0, 1, 150)[:, None]
        ways = [start + (HOME - start) * steps for start in starts]
        yield np.vstack([*ways, draw.normal(HOME, 30, (40, 2))])


def behind_a_disc(step, seed):
    rounds = [
        Defence((step,)).local_batch(batch_at(each), turn_of(seed, t))[0].xy_m
        for t, each in enumerate(walks_home(seed), 1)
    ]
    return given_of(PLAN, rounds, (as_text(step),))


@pytest.mark.parametrize("seed", range(4))
def test_home_is_found_in_an_empty_disc_amid_visits(seed):
    step = Disc()
    found = ZoneCentre().attack(behind_a_disc(step, seed))
    centre_m, guess_m = step.centre_m(turn_of(seed)), heaviest_m(found)
    assert np.hypot(*(guess_m - centre_m)) <= 50
    assert np.hypot(*(guess_m - HOME)) <= 150
    # Attacks that look for home among the visits are led to the border or beyond.
    blind_to_it = heaviest_m(Posterior().attack(behind_a_disc(step, seed)))
    assert np.hypot(*(blind_to_it - HOME)) > 180


def test_no_visited_square_lies_wholly_in_the_disc_of_a_possible_centre():
    """Radius 300 m, less a diagonal of the squares, less the 100 m from a centre to home."""
    visited = np.array([[1012.5, 812.5]])
    history = history_of(PLAN, [visited])
    chances = ZoneCentre().of(history, np.ones(len(history.grid)), (Zone(300.0, 200.0),))
    xy_m = history.grid.centres_m(np.arange(len(history.grid)))
    away_m = np.hypot(*(xy_m - visited).T)
    assert (chances[away_m < 300 - 36 - 100] == 0).all()
    assert (chances[(away_m > 300) & (away_m < 350)] > 0).all()


@pytest.mark.parametrize("more", [0, 3])
def test_the_nearest_visit_in_each_direction_is_that_of_all_pairs(more):
    plan = make_plan(Area(0.0, 0.0, 300.0, 200.0), square_m=25.0)
    visited = np.random.default_rng(3).uniform((0, 0), (300, 200), (12, 2))
    history = history_of(plan, [visited])
    grid = history.grid
    rows, columns = np.arange(-more, grid.rows + more), np.arange(-more, grid.columns + more)
    found = nearest_by_direction_m(history, more).reshape(len(rows), len(columns), SECTORS)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            away_m = history.centres_m - (25 * column + 12.5, 25 * row + 12.5)
            turn = np.degrees(np.arctan2(away_m[:, 1], away_m[:, 0])) % 360
            for sector in range(SECTORS):
                # Visits at the border of two directions may count for either.
                inside = (turn > 30 * sector + 1e-6) & (turn < 30 * sector + 30 - 1e-6)
                touching = (turn > 30 * sector - 1e-6) & (turn < 30 * sector + 30 + 1e-6)
                away = np.hypot(*away_m.T)
                assert found[i, j, sector] <= away[inside].min(initial=np.inf) + 1e-3
                assert found[i, j, sector] >= away[touching].min(initial=np.inf) - 1e-3


def test_the_radius_is_the_one_that_the_run_declares():
    known = header_of(PLAN, ("diverse:eps_m=50", as_text(Disc(400.0, 150.0)))).side_knowledge
    assert zones_of(known) == (Zone(400.0, 150.0),)
    assert zones_of(known)[0].home_within_m == 250.0


def test_without_a_declared_zone_every_radius_of_a_list_is_as_likely():
    zones = zones_of(header_of(PLAN, ("diverse:eps_m=50",)).side_knowledge)
    assert [zone.radius_m for zone in zones] == list(RADII_M)
    assert all(zone.guard_m == zone.radius_m / 2 for zone in zones)


def test_where_no_disc_fits_the_density_is_all_that_is_known():
    everywhere = np.stack(np.meshgrid(np.arange(12.5, 2000, 25), np.arange(12.5, 1600, 25)), -1)
    history = history_of(PLAN, [everywhere.reshape(-1, 2)])
    density = np.arange(1.0, len(history.grid) + 1)
    found = ZoneCentre().of(history, density, (Zone(200.0, 150.0),))
    assert found == pytest.approx(density)


@pytest.mark.parametrize(
    ("name", "value"), [("border_m", 0.0), ("border_share", 1.0), ("border_temper", 0.0)]
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(UserError, match=f"{name} must be above 0.*got {value}"):
        ZoneCentre(**{name: value})
