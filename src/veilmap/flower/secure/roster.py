"""The nodes of a round with their keys, and how many must stay to the end."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from veilmap.flower.secure.encoding import MOST_NODES
from veilmap.flower.secure.keys import PublicKeys
from veilmap.flower.secure.round_error import RoundError

# With two in a sum, each one's update is the sum minus the other's own.
FEWEST = 3


@dataclass(frozen=True)
class Roster:
    """One round as all nodes and the server must see it alike.

    Args:
        context: names the run and the round; nothing derived for one serves in another.
        keys: the public keys of every node that advertised, U₁ in the paper.
        threshold: t, how many nodes must stay to the end; no sum is of fewer. More than half of
            all, so that a server cannot ask one half to free a node's own mask and the other half
            to free its masks of pairs.
    """

    context: bytes
    keys: Mapping[int, PublicKeys]
    threshold: int

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise RoundError("; ".join(faults))

    @cached_property
    def places(self) -> dict[int, int]:
        """Each node's index among the holders of shares, from 1."""
        return {node: place for place, node in enumerate(sorted(self.keys), start=1)}

    @cached_property
    def digest(self) -> bytes:
        """A digest of the roster. Keys are bound to it, so different rosters do not match."""
        digest = sha256(len(self.context).to_bytes(8) + self.context + self.threshold.to_bytes(8))
        for node in self.places:
            keys = self.keys[node]
            digest.update(node.to_bytes(8) + keys.sealing + keys.masking)
        return digest.digest()

    def check_enough(self, nodes: Collection[int], what: str) -> None:
        """Raise if there are fewer nodes than the threshold, or unknown ones among them."""
        strangers = sorted(set(nodes) - set(self.keys))
        if strangers:
            raise RoundError(f"{what} names nodes that did not advertise: {strangers}")
        if len(set(nodes)) < self.threshold:
            raise RoundError(
                f"{what} has {len(set(nodes))} of {len(self.keys)} nodes, and {self.threshold} are"
                " required; the round ends without an update"
            )

    def _faults(self) -> Iterator[str]:
        count = len(self.keys)
        if not self.context:
            yield "the context must name the run and the round, got nothing"
        if not FEWEST <= count <= MOST_NODES:
            yield f"a secure sum needs {FEWEST} to {MOST_NODES} nodes, got {count}"
        if not max(FEWEST, count // 2 + 1) <= self.threshold <= max(FEWEST, count):
            demand = f"at least {FEWEST}, more than half of the {count} nodes and not above them"
            yield f"the threshold must be {demand}, got {self.threshold}"
        if not all(0 <= node < 2**64 for node in self.keys):
            yield f"node ids must lie from 0 to 2**64 - 1, got {sorted(self.keys)}"
        seen = Counter(key for keys in self.keys.values() for key in (keys.sealing, keys.masking))
        if any(times > 1 for times in seen.values()):
            yield "a public key appears twice among the nodes; every key must be fresh"
