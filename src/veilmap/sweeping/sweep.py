"""All trials of some specs, each once, however many specs need it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from veilmap.errors import refuse, too_low
from veilmap.experiments.result import TrialResult
from veilmap.experiments.schedule import Progress, run_trials
from veilmap.experiments.store import TrialStore
from veilmap.experiments.trial import Trial
from veilmap.files import PRIVATE
from veilmap.measurements import Measurements
from veilmap.sources.reader import read
from veilmap.sweeping.cohort import Cohort, Given
from veilmap.sweeping.few_rounds import few_rounds
from veilmap.sweeping.grid import Planned, planned
from veilmap.sweeping.quick import quick_data, quick_plan, quick_spec
from veilmap.sweeping.spec import Data, Spec
from veilmap.sweeping.spec_result import KeyedResult, SpecResult
from veilmap.wording import counted


def seeds_of(count: int, quick: bool) -> range:
    """So many seeds from 0; one for a quick sweep."""
    refuse(too_low(1, seeds=count))
    return range(1 if quick else count)


class Sweep:
    """Specs on data: the trials that they need, each once, however many specs need it."""

    def __init__(
        self,
        specs: Sequence[Spec],
        seeds: Sequence[int],
        given: Given = Given(),
        quick: bool = False,
    ) -> None:
        self.specs = tuple(quick_spec(spec) if quick else spec for spec in specs)
        self._quick, self._given = quick, given
        self._read, self._cohort_of = cache(read), cache(self._make_cohort)
        self._measurements: dict[str, Measurements] = {}
        self._plans = {spec.label: list(self._plan(spec, seeds)) for spec in self.specs}

    def run(
        self, out: Path | None, jobs: int, progress: Progress = Progress(), *, fresh: bool = False
    ) -> dict[str, SpecResult]:
        """Run what is not cached in ``out``; the figures by the label of the spec."""

        def begin(trials: int, cached: int) -> None:
            reused = f" ({cached:,} cached)" if cached else ""
            progress.on_message(f"{counted(trials, 'run')}{reused}")
            # A quick sweep has little data, and says that its figures mean nothing.
            for text in [] if self._quick else few_rounds(planned_trials, self._measurements):
                progress.on_message(text)
            progress.on_begin(trials, cached)

        def end(trial: Trial, result: TrialResult) -> None:
            if result.failed is not None:
                called = f"{trial.configuration}, seed {trial.seed}"
                progress.on_message(f"no figures: {called}: {result.failed}")
            progress.on_trial(trial, result)

        # Pictures are drawn from positions, and rows name the target.
        store = None if out is None else TrialStore(out, PRIVATE)
        planned_trials = [plan.trial for own in self._plans.values() for plan in own if plan.trial]
        reporting = replace(progress, on_begin=begin, on_trial=end)
        results = iter(
            run_trials(planned_trials, self._measurements, store, jobs, reporting, fresh=fresh)
        )

        def result_of(plan: Planned) -> TrialResult:
            if plan.trial is None:
                return TrialResult("", plan.seed, failed=plan.why_not)
            return next(results)

        return {
            label: SpecResult(tuple(KeyedResult(plan.keys, result_of(plan)) for plan in own))
            for label, own in self._plans.items()
        }

    def cohort(self, spec: Spec) -> Cohort:
        """The data of a spec with each user's role."""
        return self._cohort_of(spec.data)

    def seconds(self, results: Mapping[str, SpecResult]) -> float:
        """Of all trials, each counted once."""
        spent = {id(trial): trial.seconds for each in results.values() for _, trial in each.runs}
        return sum(spent.values())

    def _make_cohort(self, wanted: Data) -> Cohort:
        """Of the spec's own data; of other data the cell named, or the one of that rank."""
        other = self._given.data
        if other is None:
            cell = self._read(wanted.source).of_cell(wanted.cell)
            cohort = _named_cohort(Cohort.found(cell, wanted.target), wanted)
        elif wanted.cell_rank == 1:
            cohort = Cohort.found(other.of_cell(self._given.cell), self._given.target)
        else:
            cohort = Cohort.found(other.of_cell(other.cells[: wanted.cell_rank][-1]), None)
        if self._quick:
            cohort = replace(cohort, data=quick_data(cohort.data, cohort.target))
        return cohort

    def _plan(self, spec: Spec, seeds: Sequence[int]) -> Iterator[Planned]:
        cohort = self.cohort(spec)
        for runs in spec.runs:
            # What is counted has no randomness.
            own = seeds[:1] if runs.measures == "data" else seeds
            for plan in planned(runs, cohort, own):
                if plan.trial is not None and plan.trial.data not in self._measurements:
                    self._measurements[plan.trial.data] = cohort.of(plan.users)
                yield quick_plan(plan) if self._quick else plan


def _named_cohort(found: Cohort, wanted: Data) -> Cohort:
    """The roles that the spec gives, and those found where it gives none."""
    similar = wanted.similar or found.similar
    dissimilar = wanted.dissimilar or found.dissimilar
    taken = {found.target, *similar, dissimilar}
    others = tuple(user for user in found.data.users if user not in taken)
    background = (wanted.background,) if wanted.background else others
    return Cohort(found.data, found.target, similar, dissimilar, background, wanted.area_of)
