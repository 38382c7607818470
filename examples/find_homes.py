r"""How many homes each attack on messages of sums finds, beside the guesses that see none.

    python examples/find_homes.py [--seeds 3] [--defence "random:num=20"] [--plot reliability.png]

Of each seed a simulated campus: people with a home in their data (a measurement within 50 m of it
in three weekly rounds) send messages of the kriging map in the first person's densest cell.
``learned`` is trained on other people: of the same campus (others) and of another one (campus).
Each figure is the mean over seeds and their standard deviation; the error is the median over
people.
"""

import argparse
from itertools import islice
from pathlib import Path

import numpy as np

from veilmap.area import Area
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.blind import Blind
from veilmap.attacks.density import Density
from veilmap.attacks.prior import Prior
from veilmap.attacks.secure_sum import secure_sum
from veilmap.attacks.sums.differencing import Differencing
from veilmap.attacks.sums.frequency import Frequency
from veilmap.attacks.sums.medoid import Medoid
from veilmap.attacks.sums.posterior import Posterior
from veilmap.attacks.sums.zone_centre import ZoneCentre
from veilmap.canvas import png
from veilmap.federation.plan import Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import Scaler
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.square_messages import VISITED
from veilmap.metrics.clouds import in_area, pool
from veilmap.metrics.places import find_places
from veilmap.model.threads import one_thread
from veilmap.report.draw_reliability import draw_reliability
from veilmap.shadows.answers import all_answers
from veilmap.shadows.campus_people import campus_people
from veilmap.shadows.learned import Learned
from veilmap.shadows.scene import Scene
from veilmap.strategy import as_text
from veilmap.study.step_notation import parts_of, step_of
from veilmap.wording import counted

AREA = Area(-950.0, -790.0, 950.0, 790.0)
OTHER_WORLD = 1000  # added to a seed for people of another campus
WEEK_S, WEEKS = 604_800.0, 11
WITHIN_M = (50.0, 100.0, 200.0)
ATTACKS = (Frequency(), Medoid(), Posterior(), ZoneCentre(), Differencing())


def main() -> None:
    given = _arguments()
    steps = tuple(map(step_of, parts_of(given.defence))) if given.defence else ()
    found = {}
    with one_thread():
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            for key, errors_m in _errors_m(given, steps, seed):
                shares = [(errors_m <= r).mean() for r in WITHIN_M]
                found.setdefault(key, []).append([*shares, np.median(errors_m)])
    print(
        f"\n{given.people} people found, {given.shadows} learned from, "
        f"{counted(given.seeds, 'seed')}, ",
        end="",
    )
    print(given.defence or "no defence")
    print("| attack | messages | P ≤ 50 m | P ≤ 100 m | P ≤ 200 m | median, m |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (name, view), rows in sorted(found.items(), key=lambda each: each[0][1] != "single"):
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0)
        shares = [f"{m:.3f} ± {s:.3f}" for m, s in zip(mean[:3], spread[:3], strict=True)]
        print(
            f"| {name} | {view} | " + " | ".join(shares) + f" | {mean[3]:.0f} ± {spread[3]:.0f} |"
        )


def _errors_m(given, steps, seed):
    """Of each attack and view the distances from home, one per person."""
    people = list(campus_people(AREA, WEEK_S, WEEKS, given.people, seed))
    last = int(people[-1].user.split()[-1])
    rest = campus_people(AREA, WEEK_S, WEEKS, given.shadows, seed, last + 1)
    shadows = tuple(islice(rest, given.shadows))
    header = _header(steps)
    scene = Scene(header, steps, WEEKS, is_sum=False, knows_density=True)
    seen = list(all_answers(scene, people, seed, lambda count: None))
    homes_m = np.array([each.home_m for each in people])
    trained = [Learned(given.shadows, each, seed + OTHER_WORLD) for each in given.sources]
    views = _views(header, [each.user for each in people], seen, steps, shadows)
    for view, inputs in views.items():
        for attack in (Blind(), *ATTACKS, *trained):
            name = f"learned ({attack.source})" if attack.name == "learned" else attack.name
            guesses_m = _guesses_m(attack, inputs)
            yield (name, view), np.hypot(*(guesses_m - homes_m).T)
        if view == "single":
            guesses_m = [_guess_m(Prior(each.density), each) for each in inputs]
            yield ("prior", view), np.hypot(*(np.array(guesses_m) - homes_m).T)
            yield ("where others live", view), np.hypot(*(_lived_in_m(shadows) - homes_m).T)
    some = next(each for each in views["single"] if each.observations)
    for each in trained:
        _show_training(each.trained(some), each.source, seed, given)


def _header(steps):
    texts = tuple(as_text(step) for step in steps)
    known = SideKnowledge(
        Scaler.of_area(AREA), AREA, 32611, -96.0, Training(), WEEK_S, defence=texts
    )
    return Header(KrigingMap(), known)


def _views(header, users, seen, steps, shadows):
    """What the attacker is given of each person: the messages alone, or the sums of all."""
    family = header.map
    total = family.added(AREA, [each.message for own in seen for each in own])[VISITED]
    by_round = sorted((each for own in seen for each in own), key=lambda each: each.round)
    sums = list(secure_sum(header, by_round))
    views = {"single": [], "sum": []}
    for user, own in zip(users, seen, strict=True):
        k = total - family.added(AREA, [each.message for each in own])[VISITED]
        squares = np.flatnonzero(k)
        centres_m = family.grid(AREA).centres_m(squares)
        density = Density(centres_m, k[squares].astype(float), "the others", oracle=False)
        knows = {"steps": steps, "people": shadows}
        views["single"].append(AttackInput(header, own, density=density, **knows))
        others = (each for each in by_round if each.user != user)
        left = {each.round: each for each in secure_sum(header, others)}
        views["sum"].append(AttackInput(header, sums, others=left, **knows))
    return views


def _lived_in_m(shadows):
    """The disc of 100 m with most homes of other people: the best that is public of homes."""
    others_m = np.array([each.home_m for each in shadows])
    return np.array(find_places(others_m, radius_m=100.0, most=1)[0].xy_m)


def _guesses_m(attack, inputs):
    """One per person; of sums the same for all, unless the attack knows who the others are."""
    if inputs[0].others and not getattr(attack, "reads_others", False):
        return np.tile(_guess_m(attack, inputs[0]), (len(inputs), 1))
    return np.array([_guess_m(attack, each) for each in inputs])


def _guess_m(attack, given):
    """The heaviest place of all rounds together; the middle of the area where nothing is found."""
    if not given.observations:
        return AREA.centre_m
    found = attack.attack(given)
    clouds = [in_area((each.cloud.xy_m, each.cloud.weights), AREA) for each in found]
    pooled = pool(clouds, [each.n for each in found])
    if not len(pooled):
        return AREA.centre_m
    return np.array(find_places(pooled.xy_m, pooled.weights, most=1)[0].xy_m)


def _show_training(trained, source, seed, given):
    checked = trained.calibration
    print(f"learned from {source}, seed {seed}: {checked.people} people set aside, ", end="")
    print(f"γ = {trained.model.sharpness:g}, ranks uniform with p = {checked.rank_p:.2f}")
    for limit, said in zip(trained.limits, checked.said, strict=True):
        print(
            f"  within {limit.within_m:g} m: found {limit.learned:.2f}, promised {said:.2f}, "
            f"k-NN {limit.neighbours:.2f}, at most about {limit.at_most:.2f}"
        )
    if given.plot is not None:
        path = given.plot.with_stem(f"{given.plot.stem}-{source}-{seed}")
        path.write_bytes(png(draw_reliability(checked)))
        print(f"  wrote {path}")


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=258)
    parser.add_argument("--shadows", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--defence", default="", help="steps, as veilmap train takes them")
    sources = ["others", "campus"]
    parser.add_argument("--sources", nargs="*", default=sources, choices=sources, help="of learned")
    parser.add_argument("--plot", type=Path, help="draw the reliability curves")
    return parser.parse_args()


if __name__ == "__main__":
    main()
