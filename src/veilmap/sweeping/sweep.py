"""All trials of some specs, each once, however many specs need it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from veilmap.errors import UserError
from veilmap.experiments.result import TrialResult
from veilmap.experiments.schedule import Progress, run_trials
from veilmap.experiments.store import TrialStore
from veilmap.experiments.trial import Trial
from veilmap.files import PRIVATE
from veilmap.measurements import Measurements
from veilmap.sources.reader import read
from veilmap.sweeping.cohort import Cohort, Given
from veilmap.sweeping.grid import Planned, planned
from veilmap.sweeping.quick import quick_data, quick_plan, quick_spec
from veilmap.sweeping.spec import Data, Spec
from veilmap.sweeping.spec_result import SpecResult


def seeds_of(count: int, quick: bool) -> range:
    """So many seeds from 0; one for a quick sweep."""
    if count < 1:
        raise UserError(f"seeds must be at least 1, got {count}")
    return range(1 if quick else count)


class Sweep:
    """Specs on data: the trials that they need, each once, however many specs need it."""

    def __init__(
        self,
        specs: Sequence[Spec],
        seeds: Sequence[int],
        given: Given | None = None,
        quick: bool = False,
    ) -> None:
        specs = [quick_spec(spec) for spec in specs] if quick else specs
        self._quick = quick
        self._cohorts: dict[Data, Cohort] = {}
        self._read: dict[str, Measurements] = {}
        self._measurements: dict[str, Measurements] = {}
        self._given = given
        self._plans = {spec.label: list(self._plan(spec, seeds)) for spec in specs}
        self.specs = tuple(specs)

    def run(
        self,
        out: Path | None,
        jobs: int,
        progress: Progress = Progress(),
        *,
        fresh: bool = False,
    ) -> dict[str, SpecResult]:
        """Run what is not cached in ``out``; the figures by the label of the spec."""

        def begin(trials: int, cached: int) -> None:
            reused = f" ({cached:,} cached)" if cached else ""
            progress.on_message(f"{trials:,} run{'' if trials == 1 else 's'}{reused}")
            progress.on_begin(trials, cached)

        def end(trial: Trial, result: TrialResult) -> None:
            if result.failed is not None:
                case = f"{trial.configuration}, seed {trial.seed}"
                progress.on_message(f"no figures: {case}: {result.failed}")
            progress.on_trial(trial, result)

        # Pictures are drawn from positions, and rows name the target.
        store = None if out is None else TrialStore(out, PRIVATE)
        plans = [plan for own in self._plans.values() for plan in own if plan.trial is not None]
        trials = [plan.trial for plan in plans if plan.trial is not None]
        told = replace(progress, on_begin=begin, on_trial=end)
        results = run_trials(trials, self._measurements, store, jobs, told, fresh=fresh)
        done = {id(plan): result for plan, result in zip(plans, results, strict=True)}
        return {
            label: SpecResult(
                tuple(
                    (
                        plan.keys,
                        done.get(id(plan)) or TrialResult("", plan.seed, failed=plan.why_not),
                    )
                    for plan in own
                )
            )
            for label, own in self._plans.items()
        }

    def cohort(self, spec: Spec) -> Cohort:
        """The data of a spec with everybody's role."""
        if spec.data not in self._cohorts:
            cohort = self._make_cohort(spec.data)
            if self._quick:
                cohort = replace(cohort, data=quick_data(cohort.data, cohort.target))
            self._cohorts[spec.data] = cohort
        return self._cohorts[spec.data]

    def seconds(self, results: Mapping[str, SpecResult]) -> float:
        """Of all trials, each counted once."""
        spent = {id(trial): trial.seconds for each in results.values() for _, trial in each.runs}
        return sum(spent.values())

    def _make_cohort(self, wanted: Data) -> Cohort:
        if self._given is not None:
            return _given_cohort(self._given, wanted.cell_rank)
        if wanted.source not in self._read:
            self._read[wanted.source] = read(wanted.source)
        cell = self._read[wanted.source].of_cell(wanted.cell)
        return _named_cohort(Cohort.found(cell, wanted.target), wanted)

    def _plan(self, spec: Spec, seeds: Sequence[int]) -> list[Planned]:
        cohort = self.cohort(spec)
        found = []
        for runs in spec.runs:
            # What is counted has no randomness.
            own = seeds[:1] if runs.measures == "data" else seeds
            found += [self._with_data(each, cohort) for each in planned(runs, cohort, own)]
        return [quick_plan(each) for each in found] if self._quick else found

    def _with_data(self, plan: Planned, cohort: Cohort) -> Planned:
        """The plan with a name for its measurements that no other cohort has."""
        if plan.trial is None:
            return plan
        about = f"{cohort.data.source} {cohort.data.cells[0]} {plan.trial.data}"
        if about not in self._measurements:
            self._measurements[about] = cohort.of(plan.users)
        return replace(plan, trial=replace(plan.trial, data=about))


def _named_cohort(found: Cohort, wanted: Data) -> Cohort:
    """The roles that the spec gives, and those found where it gives none."""
    similar = wanted.similar or found.similar
    dissimilar = wanted.dissimilar or found.dissimilar
    taken = {found.target, *similar, dissimilar}
    others = tuple(user for user in found.data.users if user not in taken)
    background = (wanted.background,) if wanted.background else others
    return Cohort(found.data, found.target, similar, dissimilar, background, wanted.area_of)


def _given_cohort(given: Given, cell_rank: int) -> Cohort:
    """Other data than the spec was made for: the cell named, or the one of that rank."""
    cells = given.data.cells
    if cell_rank == 1:
        return Cohort.found(given.data.of_cell(given.cell), given.target)
    return Cohort.found(given.data.of_cell(cells[min(cell_rank, len(cells)) - 1]), None)
