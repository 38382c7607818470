"""Values by node, as rows of bytes: a node's number, then what belongs to it."""

from collections.abc import Iterable, Mapping

# Node ids reach 2⁶⁴, more than a Flower record's integers.
ID_BYTES = 8


def pack(table: Mapping[int, bytes]) -> list[bytes]:
    """One row per node, in the order of their numbers."""
    return [id_row(node) + value for node, value in sorted(table.items())]


def unpack(rows: Iterable[bytes]) -> dict[int, bytes]:
    """What ``pack`` packed."""
    return {node_of(row[:ID_BYTES]): bytes(row[ID_BYTES:]) for row in rows}


def id_row(node: int) -> bytes:
    """A node's number alone."""
    return node.to_bytes(ID_BYTES)


def node_of(row: bytes) -> int:
    """What ``id_row`` packed."""
    return int.from_bytes(row)
