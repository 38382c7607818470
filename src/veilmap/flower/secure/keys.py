"""Key pairs of one round, and the secrets that two nodes derive from them."""

from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from veilmap.flower.secure.round_error import RoundError

KEY_BYTES = 32


@dataclass(frozen=True)
class PublicKeys:
    """A node's public keys: one for sealing shares, one for masks (X25519)."""

    sealing: bytes
    masking: bytes

    def __post_init__(self) -> None:
        if not len(self.sealing) == len(self.masking) == KEY_BYTES:
            found = f"{len(self.sealing)} and {len(self.masking)}"
            raise RoundError(f"public keys must have {KEY_BYTES} bytes each, got {found}")

    @property
    def raw(self) -> bytes:
        return self.sealing + self.masking

    @classmethod
    def of(cls, raw: bytes) -> "PublicKeys":
        """The two keys from their 64 bytes."""
        return cls(raw[:KEY_BYTES], raw[KEY_BYTES:])


@dataclass(frozen=True)
class PrivateKeys:
    """A node's private keys, left out of the ``repr``, which may end up in logs."""

    sealing: bytes = field(repr=False)
    masking: bytes = field(repr=False)

    @classmethod
    def generate(cls) -> "PrivateKeys":
        """Two fresh keys from the library's generator, never from a seed."""
        fresh = (X25519PrivateKey.generate().private_bytes_raw() for _ in range(2))
        return cls(*fresh)

    @property
    def public(self) -> PublicKeys:
        return PublicKeys(public_of(self.sealing), public_of(self.masking))


def public_of(private: bytes) -> bytes:
    """The public key that belongs to a private one."""
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def agree(private: bytes, public: bytes, purpose: bytes, context: bytes) -> bytes:
    """The 32 bytes that only the two owners of these keys can derive; both get the same.

    Both public keys go into the derivation, as RFC 7748 (section 6.1) advises.
    """
    mine = X25519PrivateKey.from_private_bytes(private)
    try:
        secret = mine.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError as error:
        # The result would be zero for every private key: no secret at all.
        raise RoundError("a public key is a point of low order; leave that node out") from error
    pair = sorted((mine.public_key().public_bytes_raw(), public))
    return derive(secret, purpose, b"".join(pair) + context)


def derive(secret: bytes, purpose: bytes, context: bytes) -> bytes:
    """32 bytes for one purpose in one context, by HKDF-SHA256."""
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=purpose + b"\0" + context).derive(secret)
