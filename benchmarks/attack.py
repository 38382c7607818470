"""``Search`` against the usual ways to run Algorithm 2, and against its own floor; one thread.

    python benchmarks/attack.py

Every way gets the same updates and the same objective, the peers (``peers.py``) the same five
random starts; where they end, the cosine is computed in float64 by the same code. ``search`` is
timed between the peers, so that a busy spell meets both. A peer has *reached* the optimum if its
cosine is at most 1e-6 below that of ``search``; ``apart_m`` is the way between their places.

``search_speedup`` is the time of the quickest peer that reached it over that of ``search``;
``search_speedup_published`` the same without the peers that were given a rule to stop, and
``search_speedup_any`` of the quickest peer, whatever it reached. Of each the least of all updates
counts. ``floor_ratio`` is the time of ``search`` over that of three matrix products for each place
that it looks at, in the same precision, at the rate of a large batch.
"""

import statistics
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
import torch
from command import main
from observations import SETTINGS, observe
from peers import PEERS, Loss, Peer, StoppingRule
from table import duration, note, show_table, times
from timing import in_turn, once

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching import optimum
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.gradient_matching.starts import RandomStarts
from veilmap.attacks.leak import leaked_gradient

STARTS, REACHED = 5, 1e-6
# Rows at which the products run at their best rate.
BATCH_ROWS = 384
COMPILED = "veilmap.attacks.gradient_matching.compiled_local_search"
SPEEDUPS = ("search_speedup", "search_speedup_published", "search_speedup_any")


def measure(quick: bool) -> dict:
    """By update: search, its floor, and the peers."""
    torch.set_num_threads(1)
    names = list(SETTINGS)[: 1 if quick else None]
    found = {name: _one_update(name, quick) for name in names}
    return {
        **{name: _least(each[name] for each in found.values()) for name in SPEEDUPS},
        "floor_ratio": max(each["floor"]["ratio"] for each in found.values()),
        "breaching": "measured" if find_spec("breaching") else "not installed",
        "updates": found,
    }


def _search(header, observation):
    (found,) = Search().attack(AttackInput(header, [observation]))
    return found


def _least(ratios: Iterable[float | None]) -> float | None:
    return min((each for each in ratios if each is not None), default=None)


def _one_update(name: str, quick: bool) -> dict:
    header, (observation,) = observe(SETTINGS[name])
    known = header.side_knowledge
    starts_m = RandomStarts(count=STARTS).points(known.area, observation.round, None)
    starts = known.scaler.finely(starts_m)
    gradient = leaked_gradient(observation)
    fine = Matching.of(header.network, [observation.weights_before], [gradient])
    chosen = {name: peer for name, peer in PEERS.items() if peer.quick or not quick}
    peers, seconds = {}, []
    best = _search(header, observation)  # and once to warm up
    for label, peer in chosen.items():
        seconds += [once(lambda: _search(header, observation))[0] for _ in range(5)]
        found, best_std = _one_peer(peer, Loss(header, observation), starts, fine, quick)
        found["apart_m"] = float(np.linalg.norm(known.scaler.metres(best_std) - best.xy_m))
        peers[label] = found | {"reached": found["cosine"] >= best.cosine - REACHED}
    search_s = statistics.median(seconds)
    reached = {label: each["seconds"] for label, each in peers.items() if each["reached"]}
    quickest_s = {
        "search_speedup": _least(reached.values()),
        "search_speedup_published": _least(
            took for label, took in reached.items() if chosen[label].stop is None
        ),
        "search_speedup_any": _least(each["seconds"] for each in peers.values()),
    }
    return {
        "points": observation.n,
        "search_s": search_s,
        "search_least_s": min(seconds),
        "search_most_s": max(seconds),
        "search_cosine": best.cosine,
        **{each: took and took / search_s for each, took in quickest_s.items()},
        "thorough_cosine": _thorough(header, observation).cosine,
        "floor": _floor(header, observation),
        "peers": peers,
    }


def _thorough(header, observation):
    """The search under a rough network: five times the places, three times the local searches."""
    with patch.object(optimum, "_SMOOTH", optimum._ROUGH):
        return _search(header, observation)


def _one_peer(
    peer: Peer, loss: Loss, starts: np.ndarray, fine: Matching, quick: bool
) -> tuple[dict, np.ndarray]:
    """Its figures, and its best end; those that stop are timed three times, the long ones once."""
    peer.way(
        loss, starts[:1], StoppingRule(np.inf, 1)
    )  # what the first call imports is not counted
    runs = [
        once(lambda: peer.way(loss, starts, peer.stop))
        for _ in range(3 if peer.stop and not quick else 1)
    ]
    found = runs[0][2]
    cosines = fine.at(torch.from_numpy(found.ends)[None]).cosine[0].abs().nan_to_num(nan=-1.0)
    figures = {
        "seconds": statistics.median(run[0] for run in runs),
        "evaluations": found.evaluations,
        "cosine": float(cosines.max()),
    }
    return figures, found.ends[int(cosines.argmax())]


def _floor(header, observation) -> dict:
    """Three products for each place that the search looks at, and nothing else."""
    places = _places_looked_at(header, observation)
    jobs = {name: _products(header.network, dtype) for name, dtype in places}
    took = in_turn(jobs | {"search": lambda: _search(header, observation)}, 15)
    each_s = {name: took[name]["seconds"] / BATCH_ROWS for name in jobs}
    floor_s = sum(count * each_s[name] for (name, _), count in places.items())
    return {
        **{f"{name}_places": count for (name, _), count in places.items()},
        **{f"{name}_products_us": 1e6 * seconds for name, seconds in each_s.items()},
        **{f"{name}_gflops": _operations(header.network) / s / 1e9 for name, s in each_s.items()},
        "seconds": floor_s,
        "ratio": took["search"]["seconds"] / floor_s,
    }


def _places_looked_at(header, observation) -> dict[tuple[str, torch.dtype], int]:
    """By precision, counted where the objective is computed; compiled local searches are not."""
    counts: dict[tuple[str, torch.dtype], int] = {}
    at = Matching.at

    def counted(matching: Matching, x: torch.Tensor):
        key = str(x.dtype).removeprefix("torch."), x.dtype
        counts[key] = counts.get(key, 0) + x.shape[0] * x.shape[1]
        return at(matching, x)

    with patch.object(Matching, "at", counted), patch.dict(sys.modules, {COMPILED: None}):
        _search(header, observation)
    return counts


def _products(network, dtype: torch.dtype) -> Callable[[], None]:
    """For a batch of places: h W_2ᵀ, δ_2 W_2 and h G_2ᵀ."""
    second, first = network.shapes[1]
    h, delta = torch.randn(BATCH_ROWS, first).to(dtype), torch.randn(BATCH_ROWS, second).to(dtype)
    matrix, leaked = (torch.randn(second, first).to(dtype) for _ in range(2))
    forward, inner, back = torch.empty_like(delta), torch.empty_like(delta), torch.empty_like(h)

    def products() -> None:
        torch.mm(h, matrix.T, out=forward)
        torch.mm(delta, matrix, out=back)
        torch.mm(h, leaked.T, out=inner)

    return products


def _operations(network) -> int:
    """Of three products for one place: a multiplication and an addition per weight."""
    second, first = network.shapes[1]
    return 3 * 2 * second * first


def show(figures: dict) -> None:
    """A table per update."""
    for name, found in figures["updates"].items():
        show_table(
            f"{name} ({found['points']:,} points)",
            ("", "time", "of search", "gradients", "cosine", "reached", "apart"),
            [
                ("search", duration(found["search_s"]), None, None, _cosine(found), "yes", None),
                *(_peer_row(label, each, found) for label, each in found["peers"].items()),
            ],
        )
        floor = found["floor"]
        looked = ", ".join(
            f"{count:,} in {name.removesuffix('_places')}"
            for name, count in floor.items()
            if name.endswith("_places")
        )
        note(
            f"places looked at: {looked}; three products for each take "
            f"{duration(floor['seconds'])} ({_rates(floor)}), search {times(floor['ratio'])} that"
        )
        higher = found["thorough_cosine"] - found["search_cosine"]
        note(f"a search of five times the places ends {higher:+.1e} from that cosine")
    show_table(
        "search, over all updates",
        ("how many times as long takes", ""),
        [
            ("the quickest peer that reached it", times(figures["search_speedup"])),
            ("the same, of those as published", times(figures["search_speedup_published"])),
            ("the quickest peer, whatever it reached", times(figures["search_speedup_any"])),
            ("search itself, over three products a place", times(figures["floor_ratio"])),
        ],
    )
    if figures["breaching"] != "measured":
        note("breaching is not installed and was not measured")


def _peer_row(label: str, each: dict, found: dict) -> tuple:
    return (
        label,
        duration(each["seconds"]),
        times(each["seconds"] / found["search_s"]),
        f"{each['evaluations']:,}",
        f"{each['cosine']:.8f}",
        "yes" if each["reached"] else "no",
        f"{each['apart_m']:.1f} m" if each["apart_m"] < 1000 else "> 1 km",
    )


def _rates(floor: dict) -> str:
    """To be held against those of ``ceiling``."""
    rates = {each: rate for each, rate in floor.items() if each.endswith("_gflops")}
    return ", ".join(
        f"{each.removesuffix('_gflops')} at {rate:.0f} GFLOP/s" for each, rate in rates.items()
    )


def _cosine(found: dict) -> str:
    return f"{found['search_cosine']:.8f}"


if __name__ == "__main__":
    main(measure, show)
