"""Write the test vectors of the secure sums: one round of four nodes, of which one drops out.

    python tools/secure_sum_vectors.py > docs/secure-sum-vectors.json

``veilmap.flower.secure`` itself plays the round. Its random numbers come from a stream of SHA-256
digests instead of the operating system, so that the file can be reproduced.
"""

import json
from hashlib import sha256
from itertools import count
from unittest.mock import patch

import numpy as np

from veilmap.flower.secure.collector import relay, reveal
from veilmap.flower.secure.encoding import decode, encode
from veilmap.flower.secure.keys import PrivateKeys
from veilmap.flower.secure.masks import own_mask, pair_mask
from veilmap.flower.secure.participant import advertise, mask, share, unmask
from veilmap.flower.secure.roster import Roster

CONTEXT, THRESHOLD, DROPPED = b"test vectors, round 1", 3, 3
UPDATES = {
    2: ([0.5, -1.5], 20),
    DROPPED: ([4.0, 8.0], 7),
    5: ([0.0, 0.0], 0),
    2**64 - 1: ([-0.25, 3.0], 1),
}


def vectors():
    """All that the nodes and the server compute in the round; bytes are hexadecimal."""
    states, keys, letters, encoded, masked, answers = {}, {}, {}, {}, {}, {}
    for node, (update, points) in UPDATES.items():
        states[node], keys[node] = advertise(CONTEXT, node)
        encoded[node] = encode(np.float32(update), points)
    for node in UPDATES:
        states[node], letters[node] = share(states[node], keys, THRESHOLD)
    shared, roster = dict(states), Roster(CONTEXT, keys, THRESHOLD)
    stayed = set(UPDATES) - {DROPPED}
    for node in stayed:
        delivered = relay(roster, letters)[node]
        states[node], masked[node] = mask(states[node], encoded[node], delivered)
    held = {node: states[node].shares for node in stayed} | {
        DROPPED: {DROPPED: shared[DROPPED].own}
    }
    for node in stayed:
        states[node], answers[node] = unmask(states[node], stayed)
    total = reveal(roster, set(UPDATES), masked, answers)
    mean, points = decode(total)

    def vectors_of(node):
        private, digest, length = shared[node].private, roster.digest, len(total)
        others = set(UPDATES) - {node}
        return {
            "private": {"sealing": private.sealing.hex(), "masking": private.masking.hex()},
            "public": {"sealing": keys[node].sealing.hex(), "masking": keys[node].masking.hex()},
            "seed": shared[node].seed.hex(),
            "held_shares": {
                name(owner): {"seed": pair.of_seed.hex(), "key": pair.of_key.hex()}
                for owner, pair in sorted(held[node].items())
            },
            "sealed": by_node(letters[node]),
            "update": UPDATES[node][0],
            "points": UPDATES[node][1],
            "encoded": words(encoded[node]),
            "own_mask": words(own_mask(shared[node].seed, digest, length)),
            "pair_masks": {
                name(other): words(
                    pair_mask(
                        private.masking, keys[other].masking,
                        me=node, other=other, digest=digest, length=length,
                    )
                )
                for other in sorted(others)
            },
            "masked": words(masked[node]) if node in stayed else None,
            "answer": by_node(answers[node]) if node in stayed else None,
        }  # fmt: skip

    return {
        "context": CONTEXT.hex(),
        "threshold": THRESHOLD,
        "digest": roster.digest.hex(),
        "nodes": {name(node): vectors_of(node) for node in UPDATES},
        "sum": words(total),
        "mean": mean.tolist(),
        "points": points,
    }


def reproducible():
    """``vectors()`` with the same random numbers in every call."""
    numbers = count()

    def draw(size):
        return sha256(b"veilmap test vectors %d" % next(numbers)).digest()[:size]

    keys = patch.object(PrivateKeys, "generate", lambda: PrivateKeys(draw(32), draw(32)))
    with keys, patch("os.urandom", draw), patch("Crypto.Protocol.SecretSharing.rng", draw):
        return vectors()


def name(node):
    """A node's id as the protocol writes it: eight bytes."""
    return node.to_bytes(8).hex()


def by_node(table):
    return {name(node): value.hex() for node, value in sorted(table.items())}


def words(vector):
    """Each number modulo 2⁶⁴ as eight bytes, most significant first."""
    return [int(each).to_bytes(8).hex() for each in vector]


if __name__ == "__main__":
    print(json.dumps(reproducible(), indent=1))
