"""Shares sealed for their way through the server, which can neither read nor change them."""

import os
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from veilmap.flower.secure.round_error import RoundError

NONCE_BYTES = 12


@dataclass(frozen=True)
class Route:
    """From whom, to whom, in which round; authenticated, so no message serves as another."""

    sender: int
    receiver: int
    digest: bytes

    @property
    def raw(self) -> bytes:
        return self.sender.to_bytes(8) + self.receiver.to_bytes(8) + self.digest


def seal(text: bytes, key: bytes, route: Route) -> bytes:
    """Encrypt and authenticate; the nonce stands in front.

    A key seals two texts at most, one in each direction, so random nonces do not collide.
    """
    nonce = os.urandom(NONCE_BYTES)
    return nonce + ChaCha20Poly1305(key).encrypt(nonce, text, route.raw)


def unseal(sealed: bytes, key: bytes, route: Route) -> bytes:
    """The text, if it is exactly what the sender sealed for this receiver in this round."""
    nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
    try:
        return ChaCha20Poly1305(key).decrypt(nonce, rest, route.raw)
    except (InvalidTag, ValueError) as error:
        raise RoundError(
            f"the shares from node {route.sender} to node {route.receiver} were changed on the"
            " way, or the two were shown different lists of nodes; the round must end"
        ) from error
