"""One posterior over a user's places, from all rounds together.

People come back to the same places. What one message says of a place is blurred, and in some rounds
wrong; the places that all rounds share are sharp, and say in every single round where to look.
"""

from dataclasses import dataclass

from veilmap.attacks.attack import AttackInput, reads_dense
from veilmap.attacks.reconstruction import Reconstruction


@dataclass(frozen=True)
class Joint:
    """Places shared by all rounds and towers, found by ``rows`` and ``first_layer`` together.

    Each message is read by both. How far off a reading may be follows from the cosine with which
    it explains the message. A mixture over shared places is fitted to the readings of all rounds;
    where ``rows`` sees clearly more, its fit is repeated on these places, with a price that falls
    with what other rounds say of a place.
    """

    name = "joint"
    oracle = False
    all_at_once = True
    reads_elsewhere = True
    reads_found = True
    reads = staticmethod(reads_dense)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per update."""
        from veilmap.attacks.joint.posterior import find_places

        return find_places(given)
