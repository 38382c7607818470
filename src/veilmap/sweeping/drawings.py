"""From the pictures of a spec and its figures to what is drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatchmethod
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
from veilmap.sweeping.pictures import Bars, DlgPath, Inspected, Lines, Picture, PlaceMaps, Tradeoff
from veilmap.sweeping.selection import SweepRow, Where, agreeing, chosen, mean, numbers, values
from veilmap.sweeping.spec import Spec
from veilmap.sweeping.spec_result import SpecResult


@dataclass(frozen=True)
class _Rows:
    """Our rows, and the published numbers that go with them."""

    ours: Sequence[SweepRow]
    published: Sequence[SweepRow]

    def where(self, where: Where) -> "_Rows":
        return _Rows(chosen(self.ours, where), agreeing(self.published, where))

    def groups(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """The combinations of some keys that our rows have, in their order."""
        found = dict.fromkeys(
            tuple((key, row.value(key)) for key in keys if row.value(key) is not None)
            for row in self.ours
        )
        return [dict(pairs) for pairs in found]

    def series(
        self, figure: str, wheres: Sequence[Where]
    ) -> tuple[tuple[tuple[float, ...], ...], tuple[float | None, ...]]:
        """For each place the figures of all seeds, and the mean of the paper's."""
        factor = figure_name(figure).factor
        parts = [self.where(where) for where in wheres]
        ours = (numbers(part.ours, figure) for part in parts)
        papers = (mean(part.published, figure) for part in parts)
        return (
            tuple(tuple(factor * value for value in seeds) for seeds in ours),
            tuple(None if value is None else factor * value for value in papers),
        )

    def reference(self, name: str | None, figure: str) -> tuple[float | None, str]:
        """Random guesses are drawn where the figure is of their kind: the EMD beside an EMD."""
        value = mean(self.ours, name) if name else None
        if value is None or figure != EMD:
            return None, ""
        return value, "random guesses"


class Drawings:
    """The pictures of one spec, under one attack."""

    def __init__(self, cohort: Cohort, spec: Spec, result: SpecResult, attack: str) -> None:
        self._cohort, self._spec, self._result, self._attack = cohort, spec, result, attack
        self._numbers = [SweepRow(published) for published in spec.numbers]

    @singledispatchmethod
    def draw(self, picture: Picture) -> Figure | None:
        """None where no run has what it shows."""
        raise NotImplementedError(type(picture))

    @draw.register
    def _lines(self, picture: Lines) -> Figure | None:
        of_attack = self._result.of_attack(picture.table, self._attack)
        rows = _Rows(of_attack, self._numbers).where(picture.where)
        if picture.panel_keys:
            groups = rows.groups(picture.panel_keys)
            panels = [_panel_of_group(picture, own, rows.where(own)) for own in groups]
        else:
            panels = [_panel_of_figure(picture, figure, rows) for figure in picture.figures]
        shown = [panel for panel in panels if panel.lines]
        return draw_lines(shown, self._spec.title) if shown else None

    @draw.register
    def _bars(self, picture: Bars) -> Figure | None:
        of_attack = self._result.of_attack("runs", self._attack)
        rows = _Rows(chosen(of_attack, picture.where), self._numbers)
        groups, series = rows.groups(picture.groups), rows.groups(picture.bars)
        names, panels = tuple(map(_called, groups)), []
        for figure in picture.figures:
            bars = tuple(
                Bar(_called(own), *rows.series(figure, [group | own for group in groups]))
                for own in series
            )
            if any(bar.is_drawn for bar in bars):
                reference = rows.reference(picture.reference, figure)
                panels.append(BarPanel("", figure_name(figure).label, names, bars, *reference))
        return draw_bars(panels, self._spec.title) if panels else None

    @draw.register
    def _tradeoff(self, picture: Tradeoff) -> Figure | None:
        rows = chosen(self._result.of_attack("runs", self._attack), picture.where)
        known = [row for row in rows if row.figure("rmse_db") is not None]
        panels = [
            TradeoffPanel(figure_name(each).words, self._attack, each, figure_name(each).label)
            for each in picture.figures
        ]
        kept = self._result.results(picture.where)
        guesses = [row for each in kept for row in each.guesses]
        return draw_tradeoffs(known, panels, self._spec.title, guesses) if known else None

    @draw.register
    def _places(self, picture: PlaceMaps) -> Figure | None:
        pair = self._attack, self._cohort.target
        panels = [
            self._place_panel(picture, where, positions, rows)
            for where in picture.panels
            for positions, rows in self._kept(where)
            if pair in positions.tried
        ]
        return draw_places(panels, self._cohort.area, self._spec.title) if panels else None

    def _place_panel(
        self, picture: PlaceMaps, where: Where, positions: Positions, rows: Sequence[TrialRow]
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
            selected,
            centroid_m=np.array([each.centroid_m for each in points]) if picture.rounds else None,
        )

    @draw.register
    def _path(self, picture: DlgPath) -> Figure | None:
        for positions, _ in self._kept(picture.where):
            path_m = positions.path_m
            if len(path_m):
                truth = next(iter(positions.truth[self._cohort.target].by_round().values()))
                away_m = np.linalg.norm(path_m[-1] - truth.centroid_m)
                facts = f"{away_m:,.0f} m from the centroid after {len(path_m) - 1:,} iterations"
                heading = f"{as_written(self._spec.title)}\n{facts}"
                return draw_way(path_m, truth, self._cohort.area, heading)
        return None

    @draw.register
    def _inspected(self, picture: Inspected) -> Figure:
        return picture_of_data(picture.picture, self._cohort.data)

    def _kept(self, where: Where) -> list[tuple[Positions, Sequence[TrialRow]]]:
        """Of the first seed's run whose keys fit; a picture shows one run."""
        fitting = [each for each in self._result.results(where) if each.failed is None][:1]
        return [(each.positions, each.rows) for each in fitting if each.positions is not None]


def _panel_of_figure(picture: Lines, figure: str, rows: _Rows) -> LinePanel:
    """A line for each group."""
    lines = (
        _line(_called(own), picture.x, figure, rows.where(own))
        for own in rows.groups(picture.lines)
    )
    return _panel(picture, "", figure, lines, *rows.reference(picture.reference, figure))


def _panel_of_group(picture: Lines, own: Where, rows: _Rows) -> LinePanel:
    """A line for each figure; they are of one kind, and the first names the axis."""
    lines = (
        _line(figure_name(figure).words, picture.x, figure, rows) for figure in picture.figures
    )
    return _panel(picture, _called(own), picture.figures[0], lines)


def _panel(picture: Lines, title: str, y: str, lines: Iterable[Line], *reference: Any) -> LinePanel:
    x_label, y_label = figure_name(picture.x).label, figure_name(y).label
    drawn = tuple(line for line in lines if line.is_drawn)
    return LinePanel(title, x_label, y_label, drawn, picture.log_x, picture.log_y, *reference)


def _line(name: str, x: str, figure: str, rows: _Rows) -> Line:
    places = tuple(values(rows.ours, x))
    return Line(name, places, *rows.series(figure, [{x: each} for each in places]))


def _called(where: Where) -> str:
    return ", ".join(map(str, where.values()))
