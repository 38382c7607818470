"""What a reader must know before the figures of an audit mean anything."""

from collections.abc import Iterator, Sequence

from veilmap.experiments.result import TrialResult
from veilmap.study.degenerate import degenerate
from veilmap.study.prepare import Prepared


def remarks(prepared: Prepared, results: Sequence[TrialResult]) -> Iterator[str]:
    """Of the data, and of updates that were refused."""
    for remark in degenerate(prepared):
        yield f"{remark[0].upper()}{remark[1:]}."
    refused: dict[str, int] = {}
    for each in results:
        if each.refused:
            refused[each.configuration] = refused.get(each.configuration, 0) + each.refused
    if refused:
        listed = "; ".join(f"{name} ({count:,})" for name, count in refused.items())
        yield f"Updates were refused, and the rounds went on without them: {listed}."
