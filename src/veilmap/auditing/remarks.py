"""What a reader must know before the figures of an audit mean anything."""

from collections.abc import Iterator, Sequence

from veilmap.auditing.unit import Result
from veilmap.study.degenerate import degenerate
from veilmap.study.prepare import Prepared


def remarks(prepared: Prepared, results: Sequence[Result]) -> Iterator[str]:
    """Of the data, and of updates that were refused."""
    for told in degenerate(prepared):
        yield f"{told[0].upper()}{told[1:]}."
    refused: dict[str, int] = {}
    for each in results:
        if each.refused:
            refused[each.configuration] = refused.get(each.configuration, 0) + each.refused
    if refused:
        listed = "; ".join(f"{name} ({count:,})" for name, count in refused.items())
        yield f"Updates were refused, and the rounds went on without them: {listed}."
