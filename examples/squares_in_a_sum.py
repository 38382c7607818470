"""How many squares of a secure sum show one node alone, by the number of nodes in it.

    python examples/squares_in_a_sum.py [--users 100] [--days 7] [--interval 1d]

A secure sum of kriging messages says of every square how many nodes visited it in the round. Where
that is one, the sum there is that node's own signal. The world is the simulated campus.
"""

import argparse

import numpy as np

from veilmap.attacks.secure_sum import secure_sum
from veilmap.federation.observation import Recorder
from veilmap.federation.server import federate
from veilmap.sources import campus
from veilmap.sources.campus import Campus
from veilmap.streams import stream
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings

DRAWS = 20


def main() -> None:
    """One line per number of nodes."""
    given = _arguments()
    world = campus.simulate(0, Campus(users=given.users, days=given.days))
    prepared = prepare(world, RunSettings.of(map="kriging", interval=given.interval))
    seen = Recorder()
    for _ in federate(prepared.plan, prepared.rounds, prepared.users, seen):
        pass
    print(f"{'nodes':>5}  squares in a sum  of one node")
    for nodes in (3, 10, 30, len(prepared.users)):
        visits = [k for draw in range(DRAWS) for k in _visits(prepared, seen, nodes, draw)]
        named = np.concatenate(visits)
        share = np.count_nonzero(named == 1) / max(np.count_nonzero(named), 1)
        print(f"{nodes:5}  {np.count_nonzero(named) / len(visits):16.0f}  {share:11.0%}")


def _visits(prepared, seen, nodes, draw):
    """K of every round's sum over some nodes, drawn at random."""
    chosen = stream(0, "nodes", draw).permutation(prepared.users)[:nodes]
    some = (each for each in seen.observations if each.user in chosen)
    return [each.message["visited"] for each in secure_sum(prepared.header, some)]


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--interval", default="1d")
    return parser.parse_args()


if __name__ == "__main__":
    main()
