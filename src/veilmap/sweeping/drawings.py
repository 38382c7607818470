"""From the pictures of a spec and its figures to what is drawn."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from veilmap.canvas import as_written
from veilmap.experiments.positions import Positions
from veilmap.inspection.pictures import picture_of_data
from veilmap.local_data import LocalData
from veilmap.metrics.figure_names import EMD, figure_name
from veilmap.metrics.rows import TrialRow
from veilmap.report.draw_bars import Bar, BarPanel, draw_bars
from veilmap.report.draw_lines import Line, LinePanel, draw_lines
from veilmap.report.draw_path import draw_way
from veilmap.report.draw_places import PlacePanel, draw_places
from veilmap.report.draw_tradeoff import TradeoffPanel, draw_tradeoffs
from veilmap.sweeping.cohort import Cohort
from veilmap.sweeping.pictures import Bars, Inspected, Lines, Path, Picture, Places, Tradeoff
from veilmap.sweeping.selection import SweepRow, Where, agreeing, chosen, mean, numbers, values
from veilmap.sweeping.spec import Spec
from veilmap.sweeping.spec_result import SpecResult


class Drawings:
    """The pictures of one spec, under one attack."""

    def __init__(self, cohort: Cohort, spec: Spec, result: SpecResult, attack: str) -> None:
        self._cohort, self._spec, self._result, self._attack = cohort, spec, result, attack
        self._numbers = [SweepRow(published) for published in spec.numbers]
        self._ways: dict[type, Callable[[Any], Figure | None]] = {
            Lines: self._lines,
            Bars: self._bars,
            Tradeoff: self._tradeoff,
            Places: self._places,
            Path: self._path,
            Inspected: self._inspected,
        }

    def draw(self, picture: Picture) -> Figure | None:
        """None where no run has what it shows."""
        return self._ways[type(picture)](picture)

    def _lines(self, picture: Lines) -> Figure | None:
        rows = chosen(self._result.of_attack(picture.table, self._attack), picture.where)
        published = agreeing(self._numbers, picture.where)
        if picture.panel_keys:
            panels = [
                _one_panel(picture, own, chosen(rows, own), agreeing(published, own))
                for own in _groups(rows, picture.panel_keys)
            ]
        else:
            panels = [_panel(picture, figure, rows, published) for figure in picture.figures]
        shown = [panel for panel in panels if panel.lines]
        return draw_lines(shown, self._spec.title) if shown else None

    def _bars(self, picture: Bars) -> Figure | None:
        rows = chosen(self._result.of_attack("runs", self._attack), picture.where)
        groups, series = _groups(rows, picture.groups), _groups(rows, picture.bars)
        panels = []
        for figure in picture.figures:
            bars = tuple(
                Bar(
                    _called(own),
                    tuple(_values(chosen(rows, {**group, **own}), figure) for group in groups),
                    tuple(
                        _paper(agreeing(self._numbers, {**group, **own}), figure)
                        for group in groups
                    ),
                )
                for own in series
            )
            if any(bar.is_drawn for bar in bars):
                names = tuple(map(_called, groups))
                reference = _reference(rows, picture.reference, figure)
                panels.append(BarPanel("", figure_name(figure).label, names, bars, *reference))
        return draw_bars(panels, self._spec.title) if panels else None

    def _tradeoff(self, picture: Tradeoff) -> Figure | None:
        rows = chosen(self._result.of_attack("runs", self._attack), picture.where)
        known = [row.as_dict() for row in rows if row.figure("rmse_db") is not None]
        panels = [
            TradeoffPanel(figure_name(each).words, self._attack, each, figure_name(each).label)
            for each in picture.figures
        ]
        return draw_tradeoffs(known, panels, self._spec.title) if known else None

    def _places(self, picture: Places) -> Figure | None:
        case = self._attack, self._cohort.target
        panels = [
            self._place_panel(picture, where, positions, rows)
            for where in picture.panels
            for positions, rows in self._kept(where)
            if case in positions.tried
        ]
        return draw_places(panels, self._cohort.area, self._spec.title) if panels else None

    def _place_panel(
        self, picture: Places, where: Where, positions: Positions, rows: Sequence[TrialRow]
    ) -> PlacePanel:
        target = self._cohort.target
        truth, chosen_m = positions.truth[target].by_round(), positions.chosen.get(target)
        found = positions.tried[self._attack, target]
        numbered = dict(enumerate(np.unique(found.rounds).tolist(), 1))
        wanted = [numbered[i] for i in picture.rounds if i in numbered] or list(truth)
        is_shown = np.isin(found.rounds, wanted)
        points = [each for t, each in truth.items() if t in wanted]
        selected = None if chosen_m is None else chosen_m.xy_m[np.isin(chosen_m.rounds, wanted)]
        emd = next((row.figure(EMD) for row in rows if row.attack == self._attack), None)
        score = "" if picture.rounds or emd is None else f": EMD {emd:.1f} √m"
        return PlacePanel(
            _called(where) + score,
            LocalData.join(points).xy_m,
            found.xy_m[is_shown],
            found.rounds[is_shown],
            selected if selected is not None and len(selected) else None,
            np.array([each.centroid_m for each in points]) if picture.rounds else None,
        )

    def _path(self, picture: Path) -> Figure | None:
        for positions, _ in self._kept(picture.where):
            path_m = positions.path_m
            if len(path_m):
                truth = next(iter(positions.truth[self._cohort.target].by_round().values()))
                away_m = np.linalg.norm(path_m[-1] - truth.centroid_m)
                facts = f"{away_m:,.0f} m from the centroid after {len(path_m) - 1:,} iterations"
                heading = f"{as_written(self._spec.title)}\n{facts}"
                return draw_way(path_m, truth, self._cohort.area, heading)
        return None

    def _inspected(self, picture: Inspected) -> Figure:
        return picture_of_data(picture.picture, self._cohort.data)

    def _kept(self, where: Where) -> list[tuple[Positions, Sequence[TrialRow]]]:
        """Of the first seed's run whose keys fit; a picture shows one run."""
        fitting = [each for each in self._result.results(where) if each.failed is None][:1]
        return [(each.positions, each.rows) for each in fitting if each.positions is not None]


def _panel(
    picture: Lines, figure: str, rows: Sequence[SweepRow], published: Sequence[SweepRow]
) -> LinePanel:
    """Of one figure, a line for each group."""
    lines = (
        _line(_called(own), picture.x, figure, chosen(rows, own), agreeing(published, own))
        for own in _groups(rows, picture.lines)
    )
    return LinePanel(
        "",
        figure_name(picture.x).label,
        figure_name(figure).label,
        tuple(line for line in lines if line.is_drawn),
        picture.log_x,
        picture.log_y,
        *_reference(rows, picture.reference, figure),
    )


def _one_panel(
    picture: Lines, own: Mapping[str, Any], rows: Sequence[SweepRow], published: Sequence[SweepRow]
) -> LinePanel:
    """Of one group, a line for each figure; they are of one kind, and the first names the axis."""
    lines = (
        _line(figure_name(figure).words, picture.x, figure, rows, published)
        for figure in picture.figures
    )
    return LinePanel(
        _called(own),
        figure_name(picture.x).label,
        figure_name(picture.figures[0]).label,
        tuple(line for line in lines if line.is_drawn),
        picture.log_x,
        picture.log_y,
    )


def _line(
    name: str, x: str, figure: str, rows: Sequence[SweepRow], published: Sequence[SweepRow]
) -> Line:
    places = tuple(values(rows, x))
    return Line(
        name,
        places,
        tuple(_values(chosen(rows, {x: place}), figure) for place in places),
        tuple(_paper(agreeing(published, {x: place}), figure) for place in places),
    )


def _groups(rows: Sequence[SweepRow], keys: Sequence[str]) -> list[dict[str, Any]]:
    """The combinations of some keys that the rows have, in their order."""
    found = dict.fromkeys(
        tuple((key, row.value(key)) for key in keys if row.value(key) is not None) for row in rows
    )
    return [dict(pairs) for pairs in found]


def _called(where: Mapping[str, Any]) -> str:
    return ", ".join(str(value) for value in where.values())


def _values(rows: Sequence[SweepRow], figure: str) -> tuple[float, ...]:
    return tuple(figure_name(figure).factor * value for value in numbers(rows, figure))


def _paper(published: Sequence[SweepRow], figure: str) -> float | None:
    value = mean(published, figure)
    return None if value is None else figure_name(figure).factor * value


def _reference(
    rows: Sequence[SweepRow], reference: str | None, figure: str
) -> tuple[float | None, str]:
    """Random guesses are drawn where the figure is of their kind: the EMD beside an EMD."""
    value = mean(rows, reference) if reference else None
    if value is None or figure != EMD:
        return None, ""
    return value, "random guesses"
