"""The two masks that hide a vector: one of the node's own, and one with every other node."""

from collections.abc import Iterable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from veilmap.flower.secure.encoding import Words
from veilmap.flower.secure.keys import agree, derive
from veilmap.flower.secure.roster import Roster

SELF = b"veilmap secure sum: own mask"
PAIR = b"veilmap secure sum: mask of a pair"


def own_mask(seed: bytes, digest: bytes, length: int) -> Words:
    """PRG(b_u): hides the vector even if all pair masks are known.

    Without it the server could read a vector that arrives after its node was taken for dropped out
    and its masking key was rebuilt.
    """
    return _expand(derive(seed, SELF, digest), length)


def pair_mask(
    private: bytes, public: bytes, *, me: int, other: int, digest: bytes, length: int
) -> Words:
    """±PRG(s_uv): what ``me`` adds for ``other``; what ``other`` adds for ``me`` cancels it."""
    mask = _expand(agree(private, public, PAIR, digest), length)
    return mask if me < other else np.negative(mask)


def pair_masks(
    roster: Roster, private: bytes, me: int, others: Iterable[int], length: int
) -> Words:
    """All that ``me`` adds for ``others``: the sum of its masks with them."""
    total = np.zeros(length, np.uint64)
    for other in others:
        public = roster.keys[other].masking
        total += pair_mask(private, public, me=me, other=other, digest=roster.digest, length=length)
    return total


def _expand(key: bytes, length: int) -> Words:
    """The ChaCha20 key stream as integers, the same on every machine.

    The nonce is constant because no key is expanded for two different vectors.
    """
    stream = Cipher(ChaCha20(key, nonce=bytes(16)), mode=None).encryptor().update(bytes(8 * length))
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64, copy=False)
