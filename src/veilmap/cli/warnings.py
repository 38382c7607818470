"""Warnings about refused updates, and about an aggregation that trimmed nothing."""

from collections.abc import Iterator

from veilmap.federation.robust import trimmed
from veilmap.study.train import Run
from veilmap.wording import counted

# Users named in the warning; the others are in results.json.
MOST_NAMED = 8


def warning_lines(run: Run) -> Iterator[str]:
    """Yield one line per warning; none if all went well."""
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
    updates, users = counted(total, "update"), counted(len(of_user), "user")
    yield f"{updates} of {users} refused; the rounds went on"
    for user, reasons in list(of_user.items())[:MOST_NAMED]:
        rounds = f"{len(reasons):,} of {counted(len(run.history), 'round')}"
        yield f"  user {user}, in {rounds}: {reasons[0]}"
    if len(of_user) > MOST_NAMED:
        yield f"  and {counted(len(of_user) - MOST_NAMED, 'more user')}"


def _taken(run: Run) -> Iterator[str]:
    """Warn about faulty updates that were accepted."""
    refused = {user for record in run.history for user in record.refused}
    taken = [user for user in run.prepared.plan.broken if user not in refused]
    if taken:
        yield (
            f"updates of the broken phones of {', '.join(taken)} were accepted; --most-norm "
            "refuses long updates, --aggregation median tolerates a few wrong ones"
        )


def _untrimmed(run: Run) -> Iterator[str]:
    training = run.prepared.plan.training
    share = training.trimmed_share
    if training.aggregation != "trimmed":
        return
    whole = [each for each in run.history if each.users and not trimmed(share, each.users)]
    if whole:
        yield (
            f"no update was trimmed in {len(whole):,} of {counted(len(run.history), 'round')}: "
            f"a share of {share:g} leaves out less than one sender; raise --trimmed-share or use "
            "--aggregation median"
        )
