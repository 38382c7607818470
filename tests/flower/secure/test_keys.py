import pytest

from veilmap.flower.secure.keys import PrivateKeys, PublicKeys, agree, derive
from veilmap.flower.secure.round_error import RoundError


def agreed(mine, other, purpose=b"p", context=b"c"):
    return agree(mine.sealing, other.public.sealing, purpose, context)


def test_two_nodes_derive_the_same_secret_and_a_third_does_not():
    one, two, three = (PrivateKeys.generate() for _ in range(3))
    assert agreed(one, two) == agreed(two, one)
    assert agreed(one, two) != agreed(one, three)


def test_another_purpose_or_context_gives_another_secret():
    one, two = PrivateKeys.generate(), PrivateKeys.generate()
    secrets = {
        agreed(one, two),
        agreed(one, two, purpose=b"q"),
        agreed(one, two, context=b"d"),
    }
    assert len(secrets) == 3


def test_a_byte_cannot_move_from_the_context_to_the_purpose():
    assert derive(b"s", b"p", b"qc") != derive(b"s", b"pq", b"c")


def test_a_public_key_of_low_order_is_refused():
    with pytest.raises(RoundError, match="low order"):
        agree(PrivateKeys.generate().sealing, bytes(32), b"p", b"c")


def test_a_public_key_of_the_wrong_size_is_refused():
    with pytest.raises(RoundError, match="32 bytes each, got 31 and 32"):
        PublicKeys(bytes(31), bytes(32))


def test_private_keys_do_not_print_themselves():
    private = PrivateKeys.generate()
    assert repr(private) == "PrivateKeys()"
