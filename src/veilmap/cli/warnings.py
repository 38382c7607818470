"""What a run says of updates that it did not take, and of a rule that left nobody out."""

from collections.abc import Iterator

from veilmap.federation.robust import trimmed
from veilmap.study.train import Run

# Users who are named; the others are in results.json.
MOST_NAMED = 8


def troubles(run: Run) -> Iterator[str]:
    """One line each; none of a run in which all went well."""
    yield from _refused(run)
    yield from _taken(run)
    yield from _untrimmed(run)


def _refused(run: Run) -> Iterator[str]:
    of_user: dict[str, list[str]] = {}
    for record in run.history:
        for user, why in record.refused.items():
            of_user.setdefault(user, []).append(why)
    if not of_user:
        return
    total = sum(map(len, of_user.values()))
    yield f"updates refused: {total:,}, of users: {len(of_user):,}; the rounds went on"
    for user, reasons in list(of_user.items())[:MOST_NAMED]:
        yield f"  user {user}, in {len(reasons):,} of {len(run.history):,} rounds: {reasons[0]}"
    if len(of_user) > MOST_NAMED:
        yield f"  and {len(of_user) - MOST_NAMED:,} more users"


def _taken(run: Run) -> Iterator[str]:
    """Garbage that looks like an update."""
    refused = {user for record in run.history for user in record.refused}
    taken = [user for user in run.prepared.plan.broken if user not in refused]
    if taken:
        yield (
            f"what the broken phones of {', '.join(taken)} sent was taken; --most-norm refuses "
            "long updates, --aggregation median bears a few wrong ones"
        )


def _untrimmed(run: Run) -> Iterator[str]:
    training = run.prepared.plan.training
    share = training.trimmed_share
    if training.aggregation != "trimmed":
        return
    whole = [each for each in run.history if each.users and not trimmed(share, each.users)]
    if whole:
        yield (
            f"nobody was trimmed in {len(whole):,} of {len(run.history):,} rounds: a share of "
            f"{share:g} of those who sent was less than one; raise --trimmed-share, or take "
            "--aggregation median"
        )
