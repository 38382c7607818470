"""The published vectors, held to a second implementation of what docs/flower.md describes."""

import hmac
import json
from hashlib import sha256
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

ROOT = Path(__file__).parents[3]
ROUND = json.loads((ROOT / "docs/secure-sum-vectors.json").read_text())
NODES = ROUND["nodes"]
DIGEST = bytes.fromhex(ROUND["digest"])
PAIRS = [(one, other) for one in NODES for other in NODES if one != other]
STAYED = [node for node, facts in NODES.items() if facts["masked"]]


def test_the_script_writes_the_file_again():
    assert run_path(str(ROOT / "tools/secure_sum_vectors.py"))["reproducible"]() == ROUND


def test_the_digest_binds_context_threshold_and_keys():
    context = bytes.fromhex(ROUND["context"])
    text = len(context).to_bytes(8) + context + ROUND["threshold"].to_bytes(8)
    for node in sorted(NODES):
        text += bytes.fromhex(node + public(node, "sealing") + public(node, "masking"))
    assert sha256(text).digest() == DIGEST


@pytest.mark.parametrize("node", NODES)
def test_public_keys_belong_to_the_private_ones(node):
    for kind in ("sealing", "masking"):
        made = private(node, kind).public_key().public_bytes_raw()
        assert made.hex() == public(node, kind)


@pytest.mark.parametrize("node", NODES)
def test_updates_are_in_fixed_point(node):
    facts = NODES[node]
    fixed = [round(value * facts["points"] * 2**24) for value in facts["update"]]
    assert numbers(facts["encoded"]) == [each % 2**64 for each in [*fixed, facts["points"]]]


@pytest.mark.parametrize("node", NODES)
def test_own_masks(node):
    key = hkdf(bytes.fromhex(NODES[node]["seed"]), b"veilmap secure sum: own mask\0" + DIGEST)
    assert numbers(NODES[node]["own_mask"]) == key_stream(key)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_masks_of_pairs(one, other):
    sign = 1 if one < other else -1
    stream = key_stream(agreed(one, other, "masking", b"veilmap secure sum: mask of a pair"))
    assert numbers(NODES[one]["pair_masks"][other]) == [sign * each % 2**64 for each in stream]


@pytest.mark.parametrize(("one", "other"), [pair for pair in PAIRS if pair[1] in STAYED])
def test_sealed_shares_open_to_what_the_receiver_holds(one, other):
    key = agreed(other, one, "sealing", b"veilmap secure sum: sealing of shares")
    sealed = bytes.fromhex(NODES[one]["sealed"][other])
    address = bytes.fromhex(one + other) + DIGEST
    held = NODES[other]["held_shares"][one]
    text = ChaCha20Poly1305(key).decrypt(sealed[:12], sealed[12:], address)
    assert text.hex() == held["seed"] + held["key"]


@pytest.mark.parametrize("node", STAYED)
def test_a_masked_vector_is_the_encoded_one_under_all_masks(node):
    facts = NODES[node]
    parts = [facts["encoded"], facts["own_mask"], *facts["pair_masks"].values()]
    assert numbers(facts["masked"]) == added(parts)


@pytest.mark.parametrize("node", STAYED)
def test_an_answer_frees_the_seed_of_survivors_and_the_key_of_the_others(node):
    held = NODES[node]["held_shares"]
    assert NODES[node]["answer"] == {
        other: held[other]["seed" if other in STAYED else "key"] for other in NODES
    }


@pytest.mark.parametrize("node", NODES)
def test_the_answers_rebuild_the_secret_of_each_node(node):
    facts = NODES[node]
    secret = facts["seed"] if node in STAYED else facts["private"]["masking"]
    assert rebuilt({holder: NODES[holder]["answer"][node] for holder in STAYED}) == secret


def test_the_sum_is_that_of_the_survivors():
    assert numbers(ROUND["sum"]) == added([NODES[node]["encoded"] for node in STAYED])
    *fixed, points = np.array(numbers(ROUND["sum"]), np.uint64).astype(np.int64).tolist()
    assert ROUND["points"] == points == 21
    assert ROUND["mean"] == [each / 2**24 / points for each in fixed]
    # By hand: (20 · 0.5 − 0.25) / 21 and (20 · (−1.5) + 3) / 21.
    assert ROUND["mean"] == pytest.approx([9.75 / 21, -27 / 21], abs=2**-24)


def public(node, kind):
    return NODES[node]["public"][kind]


def private(node, kind):
    return X25519PrivateKey.from_private_bytes(bytes.fromhex(NODES[node]["private"][kind]))


def agreed(one, other, kind, purpose):
    theirs = X25519PublicKey.from_public_bytes(bytes.fromhex(public(other, kind)))
    pair = bytes.fromhex("".join(sorted([public(one, kind), public(other, kind)])))
    return hkdf(private(one, kind).exchange(theirs), purpose + b"\0" + pair + DIGEST)


def hkdf(secret, info):
    """RFC 5869 with SHA-256, no salt, 32 bytes."""
    extracted = hmac.digest(bytes(32), secret, "sha256")
    return hmac.digest(extracted, info + b"\1", "sha256")


def key_stream(key):
    stream = Cipher(ChaCha20(key, bytes(16)), None).encryptor().update(bytes(24))
    return np.frombuffer(stream, "<u8").tolist()


def numbers(texts):
    return [int(text, 16) for text in texts]


def added(vectors):
    return [sum(column) % 2**64 for column in zip(*map(numbers, vectors), strict=True)]


def rebuilt(shares):
    """Lagrange's interpolation at 0, for each 16 bytes of the shares."""
    places = {holder: 1 + sorted(NODES).index(holder) for holder in shares}
    pieces = []
    for start in range(0, len(next(iter(shares.values()))), 32):
        piece = 0
        for holder, share in shares.items():
            factor = int(share[start : start + 32], 16)
            for other in set(shares) - {holder}:
                quotient = times(places[other], inverse(places[other] ^ places[holder]))
                factor = times(factor, quotient)
            piece ^= factor
        pieces.append(piece.to_bytes(16).hex())
    return "".join(pieces)


def times(one, other):
    """In GF(2¹²⁸), modulo x¹²⁸ + x⁷ + x² + x + 1."""
    product = 0
    while other:
        product ^= one * (other & 1)
        other >>= 1
        one <<= 1
        one ^= (one >> 128) * (2**128 + 0b10000111)
    return product


def inverse(value):
    """To the power 2¹²⁸ - 2."""
    result = 1
    for _ in range(127):
        value = times(value, value)
        result = times(result, value)
    return result
