"""The kriging map: a campus whole, squares by the million, messages of a city, other packages.

    python benchmarks/kriging.py [--quick]

Squares are visited along winding roads (a tenth of them), at random (30 %) or everywhere, with
heavy-tailed counts. Each size is solved in a process of its own, for its peak memory; "in all" is
the weights, the mean and the standard deviation everywhere, with the public kernel. Packages that
are not installed are left out: pip install pykrige gstools gpytorch.
"""

import sys
import time
from importlib import import_module

import numpy as np
from command import main
from kriging_peers import PEERS, Problem
from table import duration, note, show_table, times
from timing import in_turn, process

import veilmap
from veilmap.area import Area
from veilmap.federation import verbs
from veilmap.federation.plan import Plan
from veilmap.federation.server import federate
from veilmap.kriging.dense import DenseKriging
from veilmap.kriging.kernel import PUBLIC
from veilmap.kriging.lattice import LatticeKriging
from veilmap.kriging.observed import Observed
from veilmap.local_data import LocalData, Round, Scaler
from veilmap.maps.kriging_map import KrigingMap
from veilmap.square_grid import SquareGrid
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings

SIDE_M = 25.0
PATTERNS = ("all", "random", "roads")
LAYOUTS = ("dense", "sparse")


def measure(quick: bool) -> dict:
    """All four, by name."""
    return {
        "campus": campus(quick),
        "squares": squares(quick),
        "messages": messages(quick),
        "packages": packages(quick),
    }


def campus(quick: bool) -> dict:
    """The simulated campus: its phones' messages, added up, kriged and drawn."""
    data = veilmap.read("campus")
    prepared = prepare(data, RunSettings.of(cell="x204"))
    repeats = 1 if quick else 5

    def whole() -> None:
        # A kernel is fitted once per state, and the next repeat has the same.
        veilmap.maps.kriging_map._kept.cache_clear()
        *_, last = federate(prepared.plan, prepared.rounds, prepared.users)
        grid = prepared.plan.map.grid(prepared.plan.area)
        verbs.predict(
            prepared.plan.map, prepared.plan, last.state, grid.centres_m(np.arange(len(grid)))
        )

    figures = in_turn({"campus": whole}, repeats)["campus"]
    return figures | {"rounds": len(prepared.rounds), "phones": len(prepared.users)}


def squares(quick: bool) -> dict:
    """Each size and pattern in a fresh process."""
    sides = (50,) if quick else (100, 1000)
    found = {}
    for side in sides:
        for pattern in PATTERNS:
            run = process([sys.executable, __file__, "--one", str(side), pattern])
            lines = dict(line.split() for line in run["output"].splitlines())
            found[f"{side * side} {pattern}"] = {
                "squares": side * side,
                "pattern": pattern,
                "visited": int(lines["visited"]),
                "solved_s": float(lines["solved"]),
                "in_all_s": float(lines["in_all"]),
                "peak_mb": run["peak_mb"],
            }
    return found


def one(side: int, pattern: str) -> None:
    """Solve one size, and print what it took."""
    grid, numbers, mean_db, k = visited(side, pattern)
    began = time.perf_counter()
    kriged = LatticeKriging.of(PUBLIC, grid, numbers, mean_db, k)
    kriged.mean_everywhere()
    solved = time.perf_counter()
    _ = kriged.std_everywhere
    ended = time.perf_counter()
    print(f"visited {len(numbers)}\nsolved {solved - began}\nin_all {ended - began}")


def visited(side: int, pattern: str) -> tuple[SquareGrid, np.ndarray, np.ndarray, np.ndarray]:
    """A grid, the numbers of its visited squares, their means and counts."""
    draw = np.random.default_rng(0)
    shape = (side, side)
    seen = {
        "all": lambda: np.ones(shape, bool),
        "random": lambda: draw.random(shape) < 0.3,
        "roads": lambda: roads(draw, shape),
    }[pattern]()
    numbers = np.flatnonzero(seen)
    row, column = np.divmod(numbers, side)
    k = np.clip(np.ceil(draw.pareto(1.1, len(numbers))), 1, 1e4)
    noise_db = np.hypot(2, PUBLIC.noise_db / np.sqrt(k)) * draw.normal(size=len(k))
    signal_db = -90 + 8 * np.sin(row / 9) + column / 50 + noise_db
    return SquareGrid(0.0, 0.0, SIDE_M, *shape), numbers, signal_db, k


def roads(draw: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Winding lines, until a tenth of the squares is on one."""
    seen = np.zeros(shape, bool)
    while seen.mean() < 0.1:
        steps = np.arange(0, sum(shape) * draw.uniform(0.05, 0.5), 0.5)
        angle = draw.uniform(0, 2 * np.pi) + 0.02 * draw.normal(size=steps.size).cumsum()
        start = draw.random(2) * shape
        way = start + 0.5 * np.column_stack([np.sin(angle).cumsum(), np.cos(angle).cumsum()])
        inside = way[((way >= 0) & (way < shape)).all(axis=1)].astype(int)
        seen[inside[:, 0], inside[:, 1]] = True
    return seen


def messages(quick: bool) -> dict:
    """10,000 phones in 10 rounds: made, checked and added up, over 10,201 squares of 25 m."""
    phones, rounds = (200, 2) if quick else (10_000, 10)
    area = Area(0.0, 0.0, 2500.0, 2500.0)
    # One round's data serve for all: what is timed does not depend on them.
    data = dict(_phones(phones))
    found = {}
    for layout in LAYOUTS:
        family = KrigingMap(layout=layout)
        plan = Plan(family, Scaler.of_area(area), area, label_offset_dbm=-95.0)
        every = [Round(t, 0.0, data) for t in range(1, rounds + 1)]

        def run(plan: Plan = plan, every: list[Round] = every) -> None:
            for _ in federate(plan, every, tuple(data)):
                pass

        figures = in_turn({layout: run}, 1)[layout]
        found[layout] = figures | {"phones": phones, "rounds": rounds}
    return found


def _phones(count: int):
    draw = np.random.default_rng(0)
    for number in range(count):
        home_m = draw.random(2) * 2400
        xy_m = np.clip(home_m + draw.normal(0, 80, (100, 2)), 0, 2500)
        signal_dbm = np.rint(draw.normal(-95, 8, 100))
        yield f"u{number}", LocalData(xy_m, signal_dbm, np.arange(100) * 60.0)


def packages(quick: bool) -> dict:
    """The mean and standard deviation at all squares of a grid, at equal answers."""
    side = 15 if quick else 50
    grid, numbers, mean_db, _ = visited(side, "all")
    # PyKrige knows one noise for all values only.
    k = np.ones(len(numbers))
    xy_m = grid.centres_m(numbers)
    dense = DenseKriging.of(PUBLIC, Observed(xy_m, mean_db, k))
    problem = Problem(PUBLIC, xy_m, mean_db, dense.mean_db)
    true_db, true_std_db = dense.predict(xy_m)

    def lattice() -> tuple[np.ndarray, np.ndarray]:
        kriged = LatticeKriging.of(PUBLIC, grid, numbers, mean_db, k)
        return kriged.mean_everywhere().ravel(), kriged.std_everywhere.ravel()

    jobs = {
        "veilmap, lattice": lattice,
        "veilmap, dense": lambda: DenseKriging.of(PUBLIC, Observed(xy_m, mean_db, k)).predict(xy_m),
    }
    for name, (module, solve) in PEERS.items():
        try:
            import_module(module)
        except ModuleNotFoundError:
            continue
        jobs[name] = lambda solve=solve: solve(problem)
    found = in_turn(jobs, 1 if quick else 3)
    for name, job in jobs.items():
        mean, std = job()
        found[name] |= {
            "mean_off_db": float(np.abs(mean - true_db).max()),
            "std_off_share": float(np.abs(std / true_std_db - 1).max()),
            "squares": len(numbers),
        }
    return found


def show(figures: dict) -> None:
    """A table for each."""
    found = figures["campus"]
    what = f"{found['rounds']} rounds, {found['phones']} phones"
    note(f"\nthe simulated campus, {what}: trained and kriged in {duration(found['seconds'])}")
    show_table(
        "kriging on a grid, mean and standard deviation everywhere",
        ("squares", "visited", "", "mean", "in all", "peak MB"),
        (
            (
                each["pattern"],
                f"{each['visited']:,}",
                f"of {each['squares']:,}",
                duration(each["solved_s"]),
                duration(each["in_all_s"]),
                f"{each['peak_mb']:,.0f}",
            )
            for each in figures["squares"].values()
        ),
    )
    show_table(
        "messages over 10,201 squares: made, checked, added up",
        ("layout", "messages", "in all", "each"),
        (
            (
                layout,
                f"{each['phones'] * each['rounds']:,}",
                duration(each["seconds"]),
                duration(each["seconds"] / each["phones"] / each["rounds"]),
            )
            for layout, each in figures["messages"].items()
        ),
    )
    ours = figures["packages"]["veilmap, lattice"]
    show_table(
        f"{ours['squares']:,} visited squares, mean and standard deviation at each",
        ("package", "time", "as long", "mean off, dB", "std off"),
        (
            (
                name,
                duration(each["seconds"]),
                times(each["seconds"] / ours["seconds"]),
                f"{each['mean_off_db']:.1e}",
                f"{each['std_off_share']:.1e}",
            )
            for name, each in figures["packages"].items()
        ),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]), sys.argv[3])
    else:
        main(measure, show)
