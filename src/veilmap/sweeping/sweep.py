"""All runs of some specs: those that are finished from before, and the rest on all cores."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from veilmap.errors import UserError
from veilmap.local_data import LocalData
from veilmap.measurements import Measurements
from veilmap.model.device import torch_device
from veilmap.sources.reader import read
from veilmap.study.pool import run_all
from veilmap.study.prepare import prepare
from veilmap.sweeping.case import Case
from veilmap.sweeping.figures import Figures
from veilmap.sweeping.grid import Planned, planned
from veilmap.sweeping.quick import quick_data, quick_plan, quick_spec
from veilmap.sweeping.record import Record
from veilmap.sweeping.selection import Where, chosen
from veilmap.sweeping.spec import Data, Spec
from veilmap.sweeping.stage import Given, Stage
from veilmap.sweeping.store import Store
from veilmap.sweeping.work import run_case


@dataclass(frozen=True)
class Hooks:
    """Who is told how a sweep gets on: how many runs there are and how many from before; each."""

    on_begin: Callable[[int, int], None] = lambda runs, kept: None
    on_run: Callable[[Case, Record], None] = lambda case, record: None


def seeds_of(count: int, quick: bool) -> range:
    """So many seeds from 0; one for a quick sweep."""
    if count < 1:
        raise UserError(f"seeds must be at least 1, got {count}")
    return range(1 if quick else count)


class Sweep:
    """Specs on data: the runs that they need, each once, however many specs need it."""

    def __init__(
        self,
        specs: Sequence[Spec],
        seeds: Sequence[int],
        given: Given | None = None,
        quick: bool = False,
    ) -> None:
        specs = [quick_spec(spec) for spec in specs] if quick else specs
        self._quick = quick
        self._stages: dict[Data, Stage] = {}
        self._read: dict[str, Measurements] = {}
        self._measurements: dict[str, Measurements] = {}
        self._fingerprints: dict[str, str] = {}
        self._given = given
        self._plans = {spec.label: list(self._plan(spec, seeds)) for spec in specs}
        self.specs = tuple(specs)

    def run(self, out: Path | None, jobs: int, hooks: Hooks = Hooks()) -> dict[str, Figures]:
        """Run what is not finished in ``out`` yet; the figures by the label of the spec.

        The bits do not depend on ``jobs``. An interrupt leaves what is finished in ``out``.
        """
        store = None if out is None else Store(out)
        wanted = self._wanted()
        done: dict[str, Record] = {}
        missing: dict[Case, str] = {}
        for digest, case in wanted.items():
            about = self._fingerprints[case.data]
            kept = store and store.load(case, about)
            if kept:
                done[digest] = kept
            else:
                also = store.kept(case, about) if store else frozenset()
                missing[replace(case, keep=case.keep | also)] = digest
        hooks.on_begin(len(wanted), len(done))
        if not all(case.counted for case in missing):
            torch_device()  # without torch what is finished can still be drawn
        with closing(run_all(run_case, list(missing), self._measurements, jobs)) as running:
            for case, record in running:
                done[missing[case]] = record
                if store is not None:
                    store.save(case, self._fingerprints[case.data], record)
                hooks.on_run(case, record)
        return {spec.label: self._figures(spec, done) for spec in self.specs}

    def stage(self, spec: Spec) -> Stage:
        """The data of a spec with everybody's role."""
        if spec.data not in self._stages:
            stage = self._make_stage(spec.data)
            if self._quick:
                stage = replace(stage, data=quick_data(stage.data, stage.target))
            self._stages[spec.data] = stage
        return self._stages[spec.data]

    def seconds(self, figures: Mapping[str, Figures]) -> float:
        """Of all runs, each counted once."""
        spent = {id(record): record.seconds for each in figures.values() for _, record in each.runs}
        return sum(spent.values())

    def truth(self, spec: Spec, where: Where) -> dict[int, LocalData]:
        """The target's points by round, in the first run whose keys fit."""
        case = next(
            plan.case
            for plan in self._plans[spec.label]
            if plan.case is not None and chosen([plan.keys], where)
        )
        prepared = prepare(self._measurements[case.data], case.settings)
        if case.same_round is not None:
            prepared = case.same_round.apply(prepared)
        rounds = {this.number: this.data for this in prepared.rounds}
        return {t: data[case.target] for t, data in rounds.items() if case.target in data}

    def _make_stage(self, wanted: Data) -> Stage:
        if self._given is not None:
            return _given_stage(self._given, wanted.cell_rank)
        if wanted.source not in self._read:
            self._read[wanted.source] = read(wanted.source)
        cell = self._read[wanted.source].of_cell(wanted.cell)
        return _named_stage(Stage.found(cell, wanted.target), wanted)

    def _plan(self, spec: Spec, seeds: Sequence[int]) -> list[Planned]:
        stage = self.stage(spec)
        found = []
        for runs in spec.runs:
            # What is counted has no randomness.
            own = seeds[:1] if runs.measures == "data" else seeds
            found += [self._with_data(each, stage) for each in planned(runs, stage, own)]
        return [quick_plan(each) for each in found] if self._quick else found

    def _with_data(self, plan: Planned, stage: Stage) -> Planned:
        """The plan with a name for its measurements that no other stage has."""
        if plan.case is None:
            return plan
        about = f"{stage.data.source} {stage.data.cells[0]} {plan.case.data}"
        if about not in self._measurements:
            self._measurements[about] = stage.of(plan.users)
            self._fingerprints[about] = _fingerprint(self._measurements[about])
        return replace(plan, case=replace(plan.case, data=about))

    def _wanted(self) -> dict[str, Case]:
        """Each run once, keeping what any of the specs wants kept."""
        found: dict[str, Case] = {}
        for plans in self._plans.values():
            for case in (plan.case for plan in plans if plan.case is not None):
                digest = case.digest(self._fingerprints[case.data])
                before = found.get(digest, case)
                found[digest] = replace(case, keep=case.keep | before.keep)
        return found

    def _figures(self, spec: Spec, done: Mapping[str, Record]) -> Figures:
        pairs = []
        for plan in self._plans[spec.label]:
            if plan.case is None:
                record = Record("", plan.seed, failed=plan.why_not)
            else:
                record = done[plan.case.digest(self._fingerprints[plan.case.data])]
            pairs.append((plan.keys, record))
        return Figures(tuple(pairs))


def _named_stage(found: Stage, wanted: Data) -> Stage:
    """The roles that the spec gives, and those found where it gives none."""
    similar = wanted.similar or found.similar
    dissimilar = wanted.dissimilar or found.dissimilar
    taken = {found.target, *similar, dissimilar}
    others = tuple(user for user in found.data.users if user not in taken)
    background = (wanted.background,) if wanted.background else others
    return Stage(found.data, found.target, similar, dissimilar, background, wanted.area_of)


def _fingerprint(data: Measurements) -> str:
    """Of the rows, and of what decides where days are cut and how far apart places are."""
    return f"{data.fingerprint} {data.timezone} {data.projection.epsg}"


def _given_stage(given: Given, cell_rank: int) -> Stage:
    """Other data than the spec was made for: the cell named, or the one of that rank."""
    cells = given.data.cells
    if cell_rank == 1:
        return Stage.found(given.data.of_cell(given.cell), given.target)
    return Stage.found(given.data.of_cell(cells[min(cell_rank, len(cells)) - 1]), None)
