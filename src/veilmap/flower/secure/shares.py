"""Shamir's secret sharing: the threshold of shares gives the secret, fewer give nothing."""

from collections.abc import Mapping

from Crypto.Protocol.SecretSharing import Shamir

# The library shares secrets of exactly this size. Longer ones go in pieces, each with its own
# polynomial, so that a piece reveals nothing about the next.
PIECE_BYTES = 16


def split(secret: bytes, threshold: int, holders: int) -> list[bytes]:
    """One share per holder, as long as the secret; the first is that of place 1."""
    pieces = [Shamir.split(threshold, holders, piece, ssss=False) for piece in _pieces(secret)]
    return [b"".join(share for _, share in of_holder) for of_holder in zip(*pieces, strict=True)]


def combine(shares: Mapping[int, bytes], threshold: int) -> bytes:
    """The secret from the shares by place.

    Exactly ``threshold`` of them are used, as the library demands.
    """
    chosen = sorted(shares.items())[:threshold]
    columns = zip(*(_pieces(share) for _, share in chosen), strict=True)
    places = [place for place, _ in chosen]
    return b"".join(
        Shamir.combine(list(zip(places, column, strict=True)), ssss=False) for column in columns
    )


def _pieces(text: bytes) -> list[bytes]:
    return [text[start : start + PIECE_BYTES] for start in range(0, len(text), PIECE_BYTES)]
