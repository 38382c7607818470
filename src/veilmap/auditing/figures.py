"""The figures of an audit for print, each as PDF and PNG."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from veilmap.attacks.reconstruction import Cloud, Outcome, Reconstruction
from veilmap.auditing.audit_result import Audit
from veilmap.auditing.over_people import shown_people
from veilmap.canvas import pdf, png
from veilmap.experiments.file_names import readable
from veilmap.experiments.positions import Points, Positions
from veilmap.experiments.result import TrialResult
from veilmap.files import OPEN, PRIVATE, remove, written
from veilmap.metrics.figure_names import EMD, HOME_ERROR
from veilmap.metrics.rows import AttackedRound
from veilmap.report.draw_people import draw_people
from veilmap.report.draw_rounds import draw_rounds
from veilmap.report.draw_tradeoff import draw_tradeoff
from veilmap.report.draw_whereabouts import draw_whereabouts

_KINDS = ("tradeoff", "people", "where", "rounds")
# What the trade-off is drawn by, and how its axis reads.
_TRADEOFFS = {HOME_ERROR: "home error, m: up is private", EMD: "EMD, √m: up is private"}


def write_figures(audit: Audit, folder: Path) -> None:
    """The trade-off, and the home errors over people where there are several.

    Of the two configurations to compare also where, and round by round.

    The names of those of a user begin with ``where`` and ``rounds``: they are named in the title.
    """
    hidden: dict[Path, bytes] = {}
    shown: dict[Path, bytes] = {}
    for name, figure in _figures(audit):
        contents = hidden if name.startswith(("where", "rounds")) else shown
        contents[folder / f"{name}.pdf"] = pdf(figure)
        contents[folder / f"{name}.png"] = png(figure)
    with written(hidden, PRIVATE), written(shown, OPEN):
        # Those of an earlier audit may show other configurations.
        for kind in _KINDS:
            remove((*folder.glob(f"{kind}-*.pdf"), *folder.glob(f"{kind}-*.png")))


def _figures(audit: Audit) -> Iterator[tuple[str, Figure]]:
    rows = audit.content.rows
    for figure, label in _TRADEOFFS.items():
        if any(row.figure(figure) is not None for row in rows):
            guesses = [row for each in audit.results for row in each.guesses]
            drawn = draw_tradeoff(rows, figure, label, audit.content.title, guesses)
            yield f"tradeoff-{figure}", drawn
    people = shown_people(audit.content.people)
    if people[0].people > 1:
        label = f"distance from {audit.ranking.baseline.place}"
        yield f"people-{HOME_ERROR}", draw_people(people, label, audit.content.title)
    for result in audit.results:
        if result.positions is not None and result.configuration in _compared(audit):
            for number, user in enumerate(audit.content.targets):
                yield from _of_target(result, result.positions, user, number)


def _compared(audit: Audit) -> tuple[str, str]:
    """The baseline, and the configuration recommended, or the most private."""
    advice, ranking = audit.verdict.advice, audit.ranking
    most = max(ranking.frontier, key=lambda each: each.hidden(ranking.privacy))
    return ranking.baseline.name, advice.configuration if advice else most.name


def _of_target(
    result: TrialResult, positions: Positions, user: str, number: int
) -> Iterator[tuple[str, Figure]]:
    name = readable(result.configuration)
    lines = [line.attacked for line in result.history if line.target == user]
    attacks = (attack for attack, owner in positions.locations if owner == user)
    found = {
        attack: [_reconstruction(each, positions, user) for each in lines if each.attack == attack]
        for attack in attacks
    }
    truth = positions.truth[user].by_round()
    norms = {line.round: [norm or 0.0 for norm in line.layer_norms] for line in lines}
    title = f"Where the server places user {user} ({result.configuration})"
    where = draw_whereabouts(found, truth, positions.area, title)
    yield f"where-{name}-target{number}", where
    title = f"User {user}, round by round ({result.configuration})"
    yield f"rounds-{name}-target{number}", draw_rounds(found, truth, norms, title)


def _reconstruction(line: AttackedRound, positions: Positions, user: str) -> Reconstruction:
    """What was found, as the attack gave it."""
    location_m = _in_round(positions.locations[line.attack, user], line.round).xy_m
    return Reconstruction(
        round=line.round,
        user=user,
        start_s=line.start_s,
        n=line.n,
        xy_m=location_m[0] if len(location_m) else np.full(2, np.nan),
        cosine=np.nan if line.cosine is None else line.cosine,
        iterations=line.iterations,
        seconds=line.seconds,
        outcome=Outcome[line.outcome.upper()],
        cloud=_in_round(positions.clouds[line.attack, user], line.round),
    )


def _in_round(points: Points, t: int) -> Cloud:
    own = points.rounds == t
    return Cloud(points.xy_m[own], points.weights[own])
