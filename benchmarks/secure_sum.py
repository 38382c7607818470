"""What a secure sum costs each node and the server, on the paper's network, one core.

    python benchmarks/secure_sum.py

All nodes play in this process; a tenth of them (rounded down) drops out before the last step, which
is the server's dearest case. Times of a node are medians over the nodes.
"""

import statistics

import numpy as np
from command import main
from table import duration, show_table
from timing import once

from veilmap.flower.secure.collector import relay, reveal
from veilmap.flower.secure.encoding import decode, encode
from veilmap.flower.secure.participant import advertise, mask, share, unmask
from veilmap.flower.secure.roster import Roster
from veilmap.model.network import Network

CONTEXT = b"benchmark"


def measure(quick: bool) -> dict:
    """One row per number of nodes."""
    return {"rows": [_row(count) for count in ((3, 10) if quick else (3, 10, 100))]}


def _row(count: int) -> dict:
    draw, size = np.random.default_rng(0), Network().size
    updates = [draw.normal(0, 1e-3, size).astype(np.float32) for _ in range(count)]
    threshold = max(3, count // 2 + 1)
    times = dict.fromkeys(range(count), 0.0)

    def timed(node, work):
        seconds, _, result = once(work)
        times[node] += seconds
        return result

    states, keys, letters, masked = {}, {}, {}, {}
    for node in times:
        states[node], keys[node] = timed(node, lambda node=node: advertise(CONTEXT, node))
    for node in times:
        states[node], letters[node] = timed(
            node, lambda node=node: share(states[node], keys, threshold)
        )
    sealed = relay(Roster(CONTEXT, keys, threshold), letters)
    for node in times:
        states[node], masked[node] = timed(
            node,
            lambda node=node: mask(states[node], encode(updates[node], node + 1), sealed[node]),
        )
    stayed = list(times)[count // 10 :]
    answers = {
        node: timed(node, lambda node=node: unmask(states[node], stayed))[1] for node in stayed
    }
    roster, sent = Roster(CONTEXT, keys, threshold), {node: masked[node] for node in stayed}
    server_s, _, total = once(lambda: reveal(roster, list(times), sent, answers))
    mean, n = decode(total)
    wanted = sum((node + 1) * updates[node].astype(float) for node in stayed) / n
    return {
        "nodes": count,
        "dropped": count - len(stayed),
        "node_s": statistics.median(times.values()),
        "server_s": server_s,
        "sent_kb": (sent[stayed[0]].nbytes + sum(map(len, letters[stayed[0]].values()))) / 1000,
        "error": float(np.abs(mean - wanted).max()),
    }


def show(figures: dict) -> None:
    """One row per number of nodes."""
    show_table(
        "a secure sum",
        ("nodes", "dropped", "a node", "the server", "a node sends", "error of the mean"),
        (
            (
                row["nodes"],
                row["dropped"],
                duration(row["node_s"]),
                duration(row["server_s"]),
                f"{row['sent_kb']:,.0f} kB",
                f"{row['error']:.0e}",
            )
            for row in figures["rows"]
        ),
        left=0,
    )


if __name__ == "__main__":
    main(measure, show)
