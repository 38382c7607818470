"""A finished audit: tables, words, and the report."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from veilmap.auditing.narrative import table_lines
from veilmap.auditing.over_people import people_lines
from veilmap.auditing.ranking import FIGURES, Ranking
from veilmap.auditing.settings import AuditSettings
from veilmap.experiments.result import TrialResult
from veilmap.metrics.panel_row import PanelRow
from veilmap.metrics.verdict import Verdict
from veilmap.report.page.content import Content
from veilmap.report.page.page import write_page
from veilmap.study.results import results


@dataclass(frozen=True)
class Audit:
    """What ``veilmap.audit`` gives.

    Attributes:
        settings: that decided it.
        ranking: the configurations compared.
        verdict: the answer in words.
        content: all that the report shows.
        results: one per configuration and seed.
        record: the settings as given and resolved, the data, the versions; ready for JSON.
    """

    settings: AuditSettings
    ranking: Ranking = field(repr=False)
    verdict: Verdict
    content: Content = field(repr=False)
    results: tuple[TrialResult, ...] = field(repr=False)
    record: Mapping[str, Any] = field(repr=False)

    @property
    def rows(self) -> pl.DataFrame:
        """One for each configuration, attack, target and seed, with all figures."""
        return pl.DataFrame([row.columns() for row in self.content.rows], infer_schema_length=None)

    @property
    def guesses(self) -> pl.DataFrame:
        """The same of the guesses that see no message."""
        lines = [row.columns() for each in self.results for row in each.guesses]
        return pl.DataFrame(lines, infer_schema_length=None)

    @property
    def history(self) -> pl.DataFrame:
        """One for each configuration, attack, target, seed and round."""
        lines = [line.columns() for line in self.content.history]
        return pl.DataFrame(lines, infer_schema_length=None)

    @property
    def configurations(self) -> pl.DataFrame:
        """One for each configuration, with medians over its seeds and targets."""
        lines = [_line(each) for each in self.content.configurations]
        return pl.DataFrame(lines, infer_schema_length=None)

    @property
    def people(self) -> pl.DataFrame:
        """One for each configuration under the strongest attack, and one for each guess.

        The distribution of home errors over people; ``errors_m`` has all, the least first.
        """
        lines = [each.figures() for each in self.content.people]
        return pl.DataFrame(lines, infer_schema_length=None)

    def report(self, path: str | Path, *, tiles: str | None = None) -> None:
        """Write the page; ``tiles`` is the address of a server of map tiles, asked by a browser."""
        write_page(self.content, Path(path), tiles=tiles)

    def as_json(self) -> dict[str, Any]:
        """The content of ``results.json``: figures and words, no position."""
        rows = [row.columns() for row in self.content.rows]
        history = [line.columns() for line in self.content.history]
        guesses = [row.columns() for each in self.results for row in each.guesses]
        return {
            **results(dict(self.record), rows, history, guesses),
            "configurations": [_line(each) for each in self.content.configurations],
            "people": [each.figures() for each in self.content.people],
            "failed": dict(self.ranking.failed),
            "verdict": asdict(self.verdict),
        }

    def lines(self) -> list[tuple[str, ...]]:
        """The table of the panel as text, the heads first."""
        heads, *lines = table_lines(self.ranking)
        marks = [_standing(each) for each in self.content.configurations]
        marks += [""] * (len(lines) - len(marks))  # the guesses
        return [(*heads, ""), *((*line, mark) for line, mark in zip(lines, marks, strict=True))]

    def people_lines(self) -> list[tuple[str, ...]]:
        """The table over people as text, the heads first; empty where one person was attacked."""
        people = self.content.people
        if people[0].people == 1:
            return []
        return [*people_lines(people, self.ranking.baseline.place)]

    def _repr_html_(self) -> str:
        words = "".join(f"<p>{escape(text)}</p>" for text in self.verdict.sentences)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>"
            for line in self.lines()
        )
        return f"<p><b>{escape(self.verdict.headline)}</b></p>{words}<table>{rows}</table>"


def _line(each: PanelRow) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for name in FIGURES:
        best = each.strongest.get(name)
        later = best.hindsight if best else None
        figures |= {
            name: best.figure.median if best else None,
            f"{name}_least": best.figure.least if best else None,
            f"{name}_most": best.figure.most if best else None,
            f"{name}_attack": best.attack if best else None,
            f"{name}_hindsight": later.figure.median if later else None,
            f"{name}_hindsight_attack": later.attack if later else None,
            **{f"{name}_{g.attack}": g.figure.median for g in each.guesses.get(name, ())},
        }
    return {
        "configuration": each.name,
        "rmse_db": each.rmse_db.median,
        "rmse_db_least": each.rmse_db.least,
        "rmse_db_most": each.rmse_db.most,
        "rmse_loss_db": each.rmse_loss_db,
        "skill_by_place": each.skill_by_place,
        "share_of_central": each.share_of_central,
        "points_share": each.points_share,
        **figures,
        "is_on_frontier": each.is_on_frontier,
        "dominated_by": each.dominated_by,
        "is_recommended": each.is_recommended,
        "unread": ", ".join(each.unread),
    }


def _standing(each: PanelRow) -> str:
    marks = {
        "baseline": each.is_baseline,
        "frontier": each.is_on_frontier,
        "recommended": each.is_recommended,
    }
    # One below the other leaves room for names.
    return "\n".join(mark for mark, holds in marks.items() if holds)
