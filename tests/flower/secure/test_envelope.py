import os

import pytest

from veilmap.flower.secure.envelope import Route, seal, unseal
from veilmap.flower.secure.round_error import RoundError

ADDRESS = Route(1, 2**64 - 1, b"round")
KEY = bytes(range(32))


def test_what_was_sealed_comes_out_and_is_not_readable_before():
    text = os.urandom(48)
    sealed = seal(text, KEY, ADDRESS)
    assert unseal(sealed, KEY, ADDRESS) == text
    assert text not in sealed


def test_the_same_text_is_sealed_differently_every_time():
    assert seal(b"text", KEY, ADDRESS) != seal(b"text", KEY, ADDRESS)


@pytest.mark.parametrize(
    "address",
    [
        Route(2**64 - 1, 1, b"round"),
        Route(3, 2**64 - 1, b"round"),
        Route(1, 3, b"round"),
        Route(1, 2**64 - 1, b"next round"),
    ],
)
def test_a_text_for_another_address_is_refused(address):
    with pytest.raises(RoundError, match="changed on the way"):
        unseal(seal(b"text", KEY, ADDRESS), KEY, address)


@pytest.mark.parametrize("kept", [0, 11, 12, 20, -1])
def test_a_cut_off_text_is_refused(kept):
    with pytest.raises(RoundError, match="changed on the way"):
        unseal(seal(b"text", KEY, ADDRESS)[:kept], KEY, ADDRESS)
