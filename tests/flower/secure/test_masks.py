import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from veilmap.flower.secure.keys import PrivateKeys, derive
from veilmap.flower.secure.masks import SELF, own_mask, pair_mask

SEED, DIGEST = bytes(range(16)), bytes(32)


def test_the_masks_of_a_pair_cancel_modulo_two_to_the_64():
    one, two = PrivateKeys.generate(), PrivateKeys.generate()
    mine = pair_mask(one.masking, two.public.masking, me=1, other=2, digest=DIGEST, length=9)
    theirs = pair_mask(two.masking, one.public.masking, me=2, other=1, digest=DIGEST, length=9)
    assert np.any(mine)
    assert not np.any(mine + theirs)


def test_a_mask_is_the_key_stream_that_the_standard_demands():
    """RFC 8439, 2.8: with a nonce of zeros the AEAD encrypts from block 1 on, 64 bytes a block."""
    sealed = ChaCha20Poly1305(derive(SEED, SELF, DIGEST)).encrypt(bytes(12), bytes(64), None)
    stream = own_mask(SEED, DIGEST, 16).astype("<u8").tobytes()
    assert stream[64:] == sealed[:64]


def test_another_seed_or_round_gives_another_mask():
    mask = own_mask(SEED, DIGEST, 100)
    assert not np.any(mask == own_mask(SEED[::-1], DIGEST, 100))
    assert not np.any(mask == own_mask(SEED, bytes(31) + b"1", 100))


def test_a_longer_mask_begins_with_the_shorter():
    assert np.array_equal(own_mask(SEED, DIGEST, 100)[:7], own_mask(SEED, DIGEST, 7))
