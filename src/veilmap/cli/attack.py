"""``veilmap attack``."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Annotated

from cyclopts import Parameter

from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.methods import METHODS
from veilmap.attacks.prior import Prior
from veilmap.attacks.reconstruction import Outcome, Reconstruction
from veilmap.attacks.secure_sum import SUM
from veilmap.cli.console import print_side_by_side, progress, say, stdout
from veilmap.cli.data import read_and_say
from veilmap.cli.file_options import FileOptions, grouped
from veilmap.metrics.baselines import Reach, is_near, is_no_better
from veilmap.metrics.scores import LONGEST_WITH_HOURS_S, UNDEFINED, Scores
from veilmap.model.device import DeviceName, torch_device
from veilmap.rounds import FEWEST_ROUNDS
from veilmap.study.attack import attack
from veilmap.study.attack_files import AttackFolder
from veilmap.study.attack_notation import methods_of
from veilmap.study.attack_run import AttackRun
from veilmap.study.attack_settings import AttackSettings, DlgSettings, Who
from veilmap.study.degenerate import ONE_PLACE, is_one_place
from veilmap.study.evidence.opening import open_evidence
from veilmap.study.run_folder import RunFolder
from veilmap.wording import counted

DlgOptions = Annotated[DlgSettings, grouped("dlg", 1)]
SearchOptions = Annotated[Search, grouped("search", 2)]
HeatmapOptions = Annotated[Heatmap, grouped("heatmap", 3)]

# What the table shows: the figure, how it reads, its format.
FIGURES = (
    ("emd_m", "EMD to the true points, m", ",.0f"),
    ("emd_random_m", "  of as many random points", ",.0f"),
    ("emd_paper", "EMD in the paper's unit, √m", ".1f"),
    ("emd_random_paper", "  of as many random points", ".1f"),
    ("cloud_emd_m", "EMD, rounds by their points, m", ",.0f"),
    ("round_emd_m", "EMD in a round, median, m", ",.0f"),
    ("diverged_share", "left the area", ".0%"),
    ("distance_m", "to the centroid, mean inside, m", ",.0f"),
    ("distance_median_m", "  median of all, m", ",.0f"),
    ("nearest_m", "to a true point, median, m", ",.0f"),
    ("nearest_random_m", "  of random points", ",.0f"),
    ("recall_25m", "top 5 places found within 25 m", ".0%"),
    ("recall_50m", "  within 50 m", ".0%"),
    ("recall_100m", "  within 100 m", ".0%"),
    ("home_error_m", "home error, m", ",.0f"),
    ("work_error_m", "work error, m", ",.0f"),
)


def attack_(
    run: Path,
    *,
    method: str = ",".join(METHODS),
    target: str | None = None,
    secure_aggregation: bool = False,
    every: int = 1,
    data: str | None = None,
    cell: str | None = None,
    also: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = (),
    out: Path | None = None,
    overwrite: bool = False,
    plot: bool = False,
    theory: bool = False,
    seed: int = 0,
    device: DeviceName = "cpu",
    dlg: DlgOptions = DlgSettings(),
    search: SearchOptions = Search(),
    heatmap: HeatmapOptions = Heatmap(),
    source: FileOptions = FileOptions(),
) -> None:
    """Play the curious server: find where a user was from the updates alone.

    Args:
        run: the folder that "veilmap train --out" made, or a transcript of any other trainer.
        method: one or more of the attacks that "veilmap methods" lists, with commas between them;
            those without options here have settings after a colon: search,posterior:home_temper=1.
            With hundreds of rounds dlg takes minutes and heatmap seconds for each.
        target: the user to find; by default the one with the most points, of those with at least
            three rounds.
        secure_aggregation: attack the weighted sum of all users, all that a server sees then; with
            --target, what the sums tell about that user.
        every: attack every Nth round of the user, from the first.
        data: the measurements, for the ground truth; a run knows its own.
        cell: the cell in --data, for a transcript.
        also: runs of other cell towers with the same users: joint reads all that the user sent.
        out: folder for results.json and found.geojson. Default: attack in the run's folder.
        overwrite: replace earlier results there.
        plot: draw maps, the path of an attack and its course over the rounds into that folder.
        theory: also compute the errors that Theorems 1 and 2 of the paper predict for each round,
            and write them to results.json.
        seed: seed of the random starts and baseline.
        device: cpu, or cuda for an NVIDIA GPU; the results are the same to rounding.
    """
    folder = AttackFolder(RunFolder(run).attack if out is None else out)
    folder.refuse_taken(overwrite)
    who = Who(methods_of(method), target, secure_aggregation, every, seed)
    settings = AttackSettings(who, dlg, search, heatmap)
    if device != "cpu":
        torch_device(device)  # before the data are read, which may take long
    measurements = None if data is None else read_and_say(data, source.columns, source.reading)
    evidence = open_evidence(run, measurements, cell, source.reading.timezone)
    with folder.held(overwrite):
        with progress() as bar:
            job = bar.add_task("attacking", total=None)
            training = bar.add_task("training", total=None, visible=False)
            result = attack(
                evidence,
                settings,
                also=also,
                keep_path=plot,
                theory=theory,
                device=device,
                on_begin=lambda count: bar.update(job, total=count),
                on_done=lambda count: bar.advance(job, count),
                on_training=lambda done, steps: bar.update(
                    training, completed=done, total=steps, visible=done < steps
                ),
            )
        _show(result)
        pictures: dict[str, bytes] = {}
        if plot:
            # Matplotlib is slow to load and needed only here.
            from veilmap.report.attack_pictures import attack_pictures

            pictures = attack_pictures(result)
        folder.write(result, pictures)
    say(f"\nwrote {folder.results} (figures) and {folder.places} (places, for QGIS)")
    for name in pictures:
        say(f"wrote {folder.path / name}")
    say("these files show where a person was; protect them like the data")


def _show(run: AttackRun) -> None:
    known, who = run.header.side_knowledge, run.target
    if run.settings.who.secure_aggregation:
        who = who if who == SUM else f"user {who} in {SUM}"
    else:
        who = f"user {who}"
    every = run.settings.who.every
    rounds = counted(len(run.norms), "round") + (f" (1 in {every})" if every > 1 else "")
    size = f"area {run.area.width_m / 1000:.2f} km x {run.area.height_m / 1000:.2f} km"
    say(f"{who}: {rounds}, {run.configuration}, {size}, nights by the clock of {run.timezone}")
    say(f"oracle, known to no real server: {', '.join(run.oracle) or 'nothing'}")
    if run.also:
        say(f"joint also reads what the user sent in: {', '.join(run.also)}")
    if known.defended and run.target not in known.defended:
        say("this user does not use the defence")
    if run.unread:
        say(f"skipped, because they cannot read this kind of map: {', '.join(run.unread)}")
    if len(run.norms) < FEWEST_ROUNDS:
        say(f"fewer than {FEWEST_ROUNDS} rounds: what is found in so few says little of others")
    if run.truth is None:
        say(f"no ground truth: {run.why_no_truth}")
    stdout.print()
    print_side_by_side([*_figures(run), *_work(run)], "", *run.scores, *run.guesses)
    say(f"\nblind sees no message and knows the area; {_prior(run)}")
    if known.interval_s > LONGEST_WITH_HOURS_S:
        say("\nrounds of more than 3 hours have no hour: home is the heaviest place, work unknown")
    if why := _why_no_home(run):
        say(f"\nthe cell's data name no home of this user: {why}; its heaviest place stands for it")
    if is_one_place(run.area):
        say(f"\n{ONE_PLACE}")
    for line in unplaced(run):
        say(f"\n{line}")
    for name, scores in run.scores.items():
        if finding := verdict(name, scores, run.guesses):
            say(f"\n{finding}")


def _prior(run: AttackRun) -> str:
    """What else the prior knows; or why there is none."""
    if Prior.name in run.guesses:
        return f"prior knows besides where other people are: {run.prior}"
    return f"there is no prior: {run.prior}"


def _figures(run: AttackRun) -> Iterator[list[str]]:
    """How near each method and each guess came; figures that none has are left out."""
    every = (*run.scores.values(), *run.guesses.values())
    for name, text, spec in FIGURES:
        if name == "home_error_m" and _why_no_home(run):
            text = "heaviest place, error, m"
        if any(getattr(scores, name) is not None for scores in every):
            yield [text, *(scores.text(name, spec) for scores in every)]


def _why_no_home(run: AttackRun) -> str | None:
    """The same under every attack."""
    return next((scores.no_home for scores in run.scores.values()), None)


def _work(run: AttackRun) -> Iterator[list[str]]:
    """How well each method explained the updates, and its cost; guesses explain nothing."""
    works = [_work_of(found, run.scores[name]) for name, found in run.found.items()]
    nothing = [UNDEFINED] * len(run.guesses)
    for text in works[0]:
        yield [text, *(work[text] for work in works), *nothing]


def _work_of(found: Sequence[Reconstruction], scores: Scores) -> dict[str, str]:
    cosine, iterates = median(each.cosine for each in found), any(e.iterations for e in found)
    unfinished = sum(each.outcome is Outcome.OUT_OF_ITERATIONS for each in found) / len(found)
    return {
        "cosine, median": f"{cosine:.4f}" if isfinite(cosine) else UNDEFINED,
        "places found": str(len(scores.places)),
        "iterations, mean": scores.text("iterations", ",.0f") if iterates else UNDEFINED,
        "  ran out of them": f"{unfinished:.0%}" if iterates else UNDEFINED,
        "seconds in all": f"{scores.seconds:,.2f}" if scores.seconds >= 0.01 else "< 0.01",
    }


def unplaced(run: AttackRun) -> Iterator[str]:
    """For each attack without a location in some rounds, how many and why."""
    for name, found in run.found.items():
        why = Counter(each.outcome for each in found if not isfinite(each.xy_m.sum()))
        for outcome, count in why.items():
            rounds = f"{count:,} of {counted(len(found), 'round')}"
            yield f"{name} found no location in {rounds}: {outcome.value}"


def verdict(name: str, scores: Scores, guesses: Mapping[str, Scores]) -> str | None:
    """A sentence on an attack whose EMD is no better than that of a guess.

    It found nothing, unless single locations or home are close nevertheless.
    """
    reach = Reach.of([scores.figures()])
    guess = Reach.best(Reach.of([each.figures()]) for each in guesses.values())
    if reach.finds_nothing(guess):
        return f"{name} does no better than a guess that sees no message"
    if not is_no_better(reach.emd_m, guess.emd_m):
        return None
    against = " and ".join(_nearer(reach, guess))
    return f"{name}: by EMD no better than a guess that sees no message, but {against}"


def _nearer(reach: Reach, guess: Reach) -> Iterator[str]:
    """By what an attack is nearer than a guess, where it is."""
    if is_near(reach.nearest_m, guess.nearest_m):
        near = f"{reach.nearest_m:,.0f} m from a place where the user was"
        yield f"{near} (a guess: {guess.nearest_m:,.0f} m)"
    if guess.home_m is not None and not is_no_better(reach.home_m, guess.home_m):
        yield f"{reach.home_m:,.0f} m from home (a guess: {guess.home_m:,.0f} m)"
