"""What the user who is attacked sent to other cell towers."""

from collections.abc import Sequence

from veilmap.attacks.secure_sum import SUM
from veilmap.errors import UserError, shown
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.study.evidence.evidence import Evidence

Elsewhere = tuple[Header, Sequence[Observation]]


def messages_elsewhere(also: Sequence[Evidence], header: Header, user: str) -> list[Elsewhere]:
    """The user's messages in other runs, with their headers.

    Raises:
        UserError: a run's positions cannot be compared, or none of its messages is the user's.
    """
    return [_of_run(each, header, user) for each in also]


def _of_run(evidence: Evidence, header: Header, user: str) -> Elsewhere:
    its, name = evidence.updates.header, evidence.path or "the other run"
    if user == SUM:
        raise UserError(
            f"{name} says more of one user only, and sums of all are attacked; name a user with "
            "--target, or leave out --also"
        )
    epsg = header.side_knowledge.epsg, its.side_knowledge.epsg
    if epsg[0] != epsg[1]:
        raise UserError(
            f"the positions of {name} are in EPSG:{epsg[1]}, those of the attacked run in "
            f"EPSG:{epsg[0]}; give towers of one UTM zone to --also"
        )
    sent = list(evidence.updates.of_user(user))
    if not sent:
        raise UserError(f"{name} has no message of user {shown(user)}; leave it out of --also")
    return its, sent
