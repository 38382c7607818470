"""What a secure sum costs each node and the server, on the paper's network, one core.

    python benchmarks/secure_sum.py [3 10 100]

All nodes play in this process; a tenth of them (rounded down) drops out before the last step, which
is the server's dearest case. Times of a node are medians over the nodes.
"""

import statistics
import sys
import time

import numpy as np

from veilmap.flower.secure.collector import relay, reveal
from veilmap.flower.secure.encoding import decode, encode
from veilmap.flower.secure.participant import advertise, mask, share, unmask
from veilmap.flower.secure.roster import Roster
from veilmap.model.network import Network

CONTEXT = b"benchmark"


def main(counts: list[int]) -> None:
    print("nodes   dropped   a node, ms   server, s   kB a node   error of the mean")
    for count in counts:
        print(row(count), flush=True)


def row(count: int) -> str:
    draw, size = np.random.default_rng(0), Network().size
    updates = [draw.normal(0, 1e-3, size).astype(np.float32) for _ in range(count)]
    threshold = max(3, count // 2 + 1)
    times = dict.fromkeys(range(count), 0.0)

    def timed(node, work):
        began = time.perf_counter()
        result = work()
        times[node] += time.perf_counter() - began
        return result

    states, keys = {}, {}
    for node in times:
        states[node], keys[node] = timed(node, lambda node=node: advertise(CONTEXT, node))
    letters = {}
    for node in times:
        states[node], letters[node] = timed(
            node, lambda node=node: share(states[node], keys, threshold)
        )
    sealed = relay(Roster(CONTEXT, keys, threshold), letters)
    masked = {}
    for node in times:
        states[node], masked[node] = timed(
            node,
            lambda node=node: mask(states[node], encode(updates[node], node + 1), sealed[node]),
        )
    stayed = list(times)[count // 10 :] if count >= 10 else list(times)
    answers = {
        node: timed(node, lambda node=node: unmask(states[node], stayed))[1] for node in stayed
    }
    began = time.perf_counter()
    roster = Roster(CONTEXT, keys, threshold)
    total = reveal(roster, list(times), {node: masked[node] for node in stayed}, answers)
    server_s = time.perf_counter() - began
    mean, n = decode(total)
    wanted = sum((node + 1) * updates[node].astype(float) for node in stayed) / n
    node_ms = 1000 * statistics.median(times.values())
    sent_kb = (masked[stayed[0]].nbytes + sum(map(len, letters[stayed[0]].values()))) / 1000
    error = np.abs(mean - wanted).max()
    return (
        f"{count:5d}   {count - len(stayed):7d}   {node_ms:10.1f}   {server_s:9.2f}"
        f"   {sent_kb:9,.0f}   {error:.0e}"
    )


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [3, 10, 100])
