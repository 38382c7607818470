"""Reports of a made-up town: every position is drawn at random."""

from collections.abc import Iterator
from itertools import product
from math import inf

import numpy as np

from veilmap.metrics.panel_row import PanelRow, StepCost
from veilmap.metrics.people import HomeErrors
from veilmap.metrics.rows import FigureRow
from veilmap.metrics.spread import Spread, Strongest
from veilmap.metrics.verdict import Advice, Verdict
from veilmap.report.page.content import (
    Content,
    Found,
    Ground,
    Made,
    Overlay,
    Track,
)

PANEL = (
    "fedavg",
    "fedavg + centre",
    "fedavg + random:num=20",
    "fedavg + diverse:eps_m=50",
    "fedavg + farthest:eps_m=50,num=20",
    "fedavg + dp:epsilon=100,clip=1",
    "fedavg + geoind:epsilon_per_m=0.01",
    "fedavg + gan",
    "fedavg + diverse:eps_m=50 + dp:epsilon=100,clip=1",
)
ATTACKS = ("dlg", "search", "first_layer", "heatmap")
LAT_DEG, LON_DEG, REACH_DEG = 48.2, 16.3, 0.01
HOME_DEG = (LAT_DEG - 0.004, LON_DEG - 0.005)
AREA_DEG = (
    (LAT_DEG - REACH_DEG, LON_DEG - REACH_DEG),
    (LAT_DEG - REACH_DEG, LON_DEG + REACH_DEG),
    (LAT_DEG + REACH_DEG, LON_DEG + REACH_DEG),
    (LAT_DEG + REACH_DEG, LON_DEG - REACH_DEG),
)
FIGURES = ("home_error_m", "nearest_m", "emd_paper", "distance_m", "recall_50m")


class Line(dict, FigureRow):
    """A row with figures of any names and values."""

    @property
    def _flat(self):
        return self


def make_content(
    configurations=PANEL[:4],
    attacks=ATTACKS[2:],
    targets=("0",),
    seeds=(0, 1),
    rounds=5,
    points=2_000,
    cells=60,
    *,
    with_ground=True,
    title="Audit of a made-up town",
) -> Content:
    draw = np.random.default_rng(0)
    rows = list(_rows(draw, configurations, attacks, targets, seeds))
    return Content(
        title=title,
        verdict=_verdict(configurations),
        targets=targets,
        attacks=attacks,
        configurations=tuple(
            _configuration(place, name, rows, attacks) for place, name in enumerate(configurations)
        ),
        rows=rows,
        history=list(_history(draw, configurations, attacks, targets, seeds, rounds)),
        rmse_constant_db=8.2,
        made=_made(seeds),
        ground=make_ground(draw, configurations, attacks, targets, rounds, points, cells)
        if with_ground
        else None,
        people=tuple(_people(configurations, len(targets))),
    )


def _people(configurations, count) -> Iterator[HomeErrors]:
    """Under the second configuration a person of several is not located."""
    for place, name in enumerate(configurations):
        errors_m = [30.0 * (1 + place) * (1 + person) for person in range(count)]
        if place == 1 and count > 1:
            errors_m[-1] = inf
        yield HomeErrors(name, "heatmap", tuple(errors_m))
        for guess, nearest_m in (("blind", 400.0), ("prior", 200.0)):
            guessed_m = tuple(nearest_m + 50.0 * person for person in range(count))
            yield HomeErrors(name, guess, guessed_m, is_guess=True)


def make_ground(draw, configurations, attacks, targets, rounds, points, cells) -> Ground:
    numbers = tuple(range(1, rounds + 1))
    truth = {target: _walk(draw, numbers, points) for target in targets}
    return Ground(
        area_deg=AREA_DEG,
        rounds=numbers,
        starts=tuple(f"2024-03-{1 + number:02d} 00:00" for number in numbers),
        truth=truth,
        chosen={
            (name, target): _some(draw, truth[target], name)
            for name, target in product(configurations[1:], targets)
        },
        found={
            key: _found(draw, numbers, cells if key[1] == "heatmap" else 1, place)
            for place, key in enumerate(product(configurations, attacks, targets))
        },
        homes=dict.fromkeys(targets, HOME_DEG),
        named_homes={
            key: (HOME_DEG[0] + 0.001 * (1 + place), HOME_DEG[1] + 0.0015)
            for place, key in enumerate(product(configurations, attacks, targets))
        },
        signal={name: _overlay(place) for place, name in enumerate(configurations)},
        tower_deg=(LAT_DEG + 0.002, LON_DEG - 0.003),
    )


def _rows(draw, configurations, attacks, targets, seeds) -> Iterator[Line]:
    for (place, name), attack, target, seed in product(
        enumerate(configurations), attacks, targets, seeds
    ):
        hidden = 60 + 90 * place + 20 * attacks.index(attack)
        yield Line(
            {
                "configuration": name,
                "attack": attack,
                "target": target,
                "seed": seed,
                "rounds": 11,
                "rmse_db": round(5.5 + 0.35 * ((3 * place) % 7) + draw.normal(0, 0.08), 4),
                "points": 300.0,
                "points_share": 1 / (1 + place),
                "home_error_m": round(hidden + draw.normal(0, 9), 3),
                "nearest_m": round(hidden / 3 + draw.normal(0, 3), 3),
                "emd_paper": round(hidden**0.5 + draw.normal(0, 0.4), 3),
                "distance_m": round(hidden * 1.4 + draw.normal(0, 9), 3),
                "recall_50m": round(float(np.clip(0.8 - 0.08 * place, 0, 1)), 2),
                "work_error_m": None,
            }
        )


def _configuration(place, name, rows, attacks) -> PanelRow:
    own = [row for row in rows if row["configuration"] == name]
    steps = name.split(" + ")[1:]
    rmse_db = _spread(own, "rmse_db")
    return PanelRow(
        name=name,
        rmse_db=rmse_db,
        rmse_loss_db=rmse_db.median - _spread([rows[0]], "rmse_db").median if place else 0.0,
        points_share=1 / (1 + place),
        strongest={figure: _strongest(own, figure, attacks) for figure in FIGURES},
        is_baseline=place == 0,
        is_on_frontier=place % 2 == 0,
        dominated_by=None if place % 2 == 0 else rows[0]["configuration"],
        is_recommended=place == 3,
        costs=tuple(
            StepCost(step, 3.5 * (place + 1), 0.8 * (place + 1), 40.0 if "gan" in step else 0.0)
            for step in steps
        ),
    )


def _strongest(rows, figure, attacks) -> Strongest:
    by_attack = {
        attack: _spread([row for row in rows if row["attack"] == attack], figure)
        for attack in attacks
    }
    best = max if figure.startswith("recall") else min
    attack = best(by_attack, key=lambda name: by_attack[name].median)
    return Strongest(attack, by_attack[attack])


def _spread(rows, figure) -> Spread:
    values = [row[figure] for row in rows]
    return Spread(float(np.median(values)), min(values), max(values))


def _history(draw, configurations, attacks, targets, seeds, rounds) -> Iterator[Line]:
    for (place, name), attack, target, seed, number in product(
        enumerate(configurations), attacks, targets, seeds, range(1, rounds + 1)
    ):
        predicted_m = 40 + 25 * place + 6 * number
        cosine = round(float(1 - draw.uniform(0, 0.02) * number), 5)
        away_m = None if number == 3 else round(predicted_m * draw.uniform(0.8, 1.4), 2)
        yield Line(
            {
                "configuration": name,
                "attack": attack,
                "target": target,
                "seed": seed,
                "round": number,
                "cosine": cosine,
                "distance_m": away_m,
                "distance_trained_m": round(predicted_m * draw.uniform(0.9, 1.1), 2),
                "emd_m": round(predicted_m * 1.1, 2),
                "norm": round(90 / number**1.5, 4),
                "predicted_error_m": float(predicted_m),
                "bound_m": predicted_m * 4.0,
                "inside": number != 2,
            }
        )


def _walk(draw, numbers, points) -> Track:
    """Nights at home, days at work, the way between them."""
    homes = np.array([HOME_DEG, [LAT_DEG + 0.003, LON_DEG + 0.005]])
    side = draw.integers(0, 2, points)
    degrees = homes[side] + draw.normal(0, 0.0006, (points, 2))
    way = draw.random(points) < 0.15
    share = draw.random((points, 1))
    line = homes[0] + share * (homes[1] - homes[0]) + draw.normal(0, 0.0001, (points, 2))
    degrees[way] = line[way]
    return _track(degrees, np.sort(draw.choice(numbers, points)))


def _some(draw, truth, name) -> Track:
    rows = np.arange(len(truth.rounds))
    kept = rows if "g" in name.partition(" + ")[2][:2] else rows[:: max(len(rows) // 200, 1)]
    degrees = np.column_stack([truth.lat_deg[kept], truth.lon_deg[kept]])
    return _track(degrees + draw.normal(0, 0.0002, degrees.shape), truth.rounds[kept])


def _found(draw, numbers, cells, place) -> Found:
    """The second round leaves the area, far beyond every view."""
    degrees = np.array([LAT_DEG, LON_DEG]) + draw.normal(0, 0.003, (len(numbers), 2))
    inside = np.array([number != 2 for number in numbers])
    degrees[~inside] += 1.0
    where = np.array(HOME_DEG) + 0.001 * (place % 5)
    cloud = np.round((where + draw.normal(0, 0.002, (len(numbers) * cells, 2))) * 2500) / 2500
    weights = draw.dirichlet(np.full(cells, 0.5), len(numbers)).ravel()
    return Found(
        _track(degrees, np.array(numbers)),
        inside,
        _track(cloud, np.repeat(numbers, cells)),
        weights,
    )


def _overlay(place) -> Overlay:
    rows, columns = np.mgrid[0:90, 0:90] / 90
    far = np.hypot(rows - 0.4, columns - 0.35 - 0.02 * place)
    south, north = LAT_DEG - REACH_DEG, LAT_DEG + REACH_DEG
    west, east = LON_DEG - REACH_DEG, LON_DEG + REACH_DEG
    return Overlay((south, west, north, east), -75 - 45 * far + 4 * np.sin(9 * columns))


def _track(degrees, rounds) -> Track:
    return Track(degrees[:, 0], degrees[:, 1], np.asarray(rounds, np.int64))


def _verdict(configurations) -> Verdict:
    name = configurations[-1]
    command = f"veilmap train town.csv --scheme fedavg --defence '{name}'"
    return Verdict(
        headline="Your server finds this person's home to 60 m from the updates alone.",
        sentences=(
            "The heat map finds 4 of 5 places where the person spends most time.",
            f"With {name} the home is off by 510 m, for 0.35 dB.",
        ),
        knows=("the network and its weights before each round", "the public area", "the scaler"),
        oracle=("the mean of the labels, taken from the data",),
        advice=Advice(
            name, "It hides the home for the least loss.", command, '[protection]\nsteps = ["x"]\n'
        ),
    )


def _made(seeds) -> Made:
    return Made(
        command="veilmap audit town.csv --rounds 1d",
        settings_toml='[task]\ninterval = "1d"\n',
        seeds=seeds,
        versions={"veilmap": "0.1.0", "torch": "2.13.0"},
        data={
            "source": "town.csv",
            "rows": 2000,
            "dropped": {"no signal": 3},
            "cell": "x204",
            "fingerprint": "9f2c" * 16,
        },
        seconds=184.2,
    )
