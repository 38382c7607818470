"""What the user who is attacked sent to other cell towers."""

from collections.abc import Sequence
from pathlib import Path

from veilmap.attacks.secure_sum import SUM
from veilmap.errors import UserError, shown
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.study.evidence.evidence import Evidence
from veilmap.study.evidence.opening import open_updates

Run = str | Path | Evidence
Elsewhere = tuple[Header, Sequence[Observation]]


def messages_elsewhere(also: Sequence[Run], header: Header, user: str) -> list[Elsewhere]:
    """The user's messages in other runs, with their headers.

    Raises:
        UserError: a run's positions cannot be compared, or none of its messages is the user's.
    """
    if also and user == SUM:
        raise UserError(
            "runs of other towers say more of one user, and sums of all are attacked; name a user "
            "with --target, or leave out --also"
        )
    return [_of_run(each, header.side_knowledge.epsg, user) for each in also]


def run_name(run: Run) -> str:
    """How messages and results call a run."""
    return str(run.path or "a run in memory") if isinstance(run, Evidence) else str(run)


def _of_run(run: Run, epsg: int, user: str) -> Elsewhere:
    name = run_name(run)
    updates = run.updates if isinstance(run, Evidence) else open_updates(run)
    its = updates.header.side_knowledge.epsg
    if its != epsg:
        raise UserError(
            f"the positions of {name} are in EPSG:{its}, those of the attacked run in EPSG:{epsg}; "
            "give towers of one UTM zone to --also"
        )
    sent = list(updates.of_user(user))
    if not sent:
        raise UserError(f"{name} has no message of user {shown(user)}; leave it out of --also")
    return updates.header, sent
