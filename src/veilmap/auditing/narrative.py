"""What an audit says, in sentences."""

from collections import Counter
from collections.abc import Iterator, Sequence

from veilmap.auditing.one_configuration import but, cost, decibels, figure_text, hidden
from veilmap.auditing.plan import AuditPlan
from veilmap.auditing.ranking import Ranked, Ranking, rank_one
from veilmap.auditing.settings import AuditSettings
from veilmap.experiments.result import TrialResult
from veilmap.measurements import Measurements, clock_text
from veilmap.metrics.baselines import GUESS_NAMES
from veilmap.metrics.figure_names import HOME_ERROR, FigureName, figure_name
from veilmap.metrics.spread import Strongest
from veilmap.study.degenerate import degenerate
from veilmap.study.prepare import Prepared
from veilmap.wording import counted

# A cell with fewer is audited with a warning.
FEW_ROWS, FEW_USERS, FEW_ROUNDS = 500, 2, 3
KNOWS = (
    "every update of every user, one by one, and the weights that it started from",
    "who sent it, in which round, and from how many points",
    "the network, the rate and the number of steps with which phones train",
    "the area, the scale of positions in it, and the offset of the labels",
    "which defences phones take, with their settings; their random numbers stay unknown",
)
ORACLE = {
    "area": "the area is the bounding box of the cell's measurements; give the public one: --area",
    "scaler": "positions are scaled by the data; give the public --area, with --scaler area",
    "label_offset_dbm": "centred labels have the mean of all users' data; give --label-offset",
    "public sample": "a defence learned from a sample of all users' data",
    "where the other users measured, for the guess prior": (
        "the guess prior knows where the other users measured; a server has a public density"
    ),
    "the start of dlg": "dlg started near the true centroid of each round",
}


def about_data(plan: AuditPlan) -> str:
    """What is audited, in one line."""
    prepared, area = plan.prepared, plan.prepared.plan.area
    rounds = f"{counted(len(prepared.rounds), 'round')} of {prepared.settings.task.interval}"
    size = f"{area.width_m / 1000:.2f} km x {area.height_m / 1000:.2f} km"
    return (
        f"{plan.data.source}, cell {prepared.cell}: {counted(len(plan.data), 'row')} of "
        f"{counted(len(prepared.users), 'user')}, {rounds}, {size}, "
        f"{clock_text(plan.data.timezone, plan.data.timezone_by)}"
    )


def about_trials(plan: AuditPlan, trials: int, cached: int) -> str:
    """Who is attacked, of how many, and in how many runs."""
    reused = f" ({cached:,} cached)" if cached else ""
    who = plan.chosen.about(plan.names)
    said = [f"attacking {who} in {counted(trials, 'run')}{reused}", *plan.chosen.remarks()]
    return "\n".join([*said, ""])


# What helps where a map is worth nothing.
BETTER_MAP = "train with --map kriging, or measure in more places"


def about_configuration(name: str, results: Sequence[TrialResult]) -> str:
    """What came of one, as soon as its last seed is finished."""
    why = next((each.failed for each in results if each.failed is not None), None)
    if why is not None:
        return f"{name}: no figures: {why}"
    ranked = rank_one(sorted(results, key=lambda each: each.seed))
    return f"{name}: RMSE {decibels(ranked.rmse_db)}, {hidden(ranked, HOME_ERROR)}"


def scarcity(prepared: Prepared) -> Iterator[str]:
    """A warning where the data are so few that another week or another user may turn it around."""
    counts = {
        "row": (len(prepared.data), FEW_ROWS),
        "user": (len(prepared.users), FEW_USERS),
        "round": (len(prepared.rounds), FEW_ROUNDS),
    }
    few = [counted(n, what) for what, (n, least) in counts.items() if n < least]
    if few:
        yield (
            f"The cell has only {' and '.join(few)}: figures from so few data say little about "
            "others; give more data, or choose another --cell or a shorter --interval."
        )


def clock(data: Measurements) -> Iterator[str]:
    """The clock that decides nights, where nobody gave one."""
    if data.timezone_by == "position":
        yield (
            f"Nights follow the clock of {data.timezone}, guessed from the position; give "
            "--timezone for another."
        )
    elif data.timezone_by == "writing":
        yield (
            "Times are written without an offset and read as UTC, which decides nights; where "
            "they are local, give --timezone."
        )


def homeless(ranking: Ranking) -> Iterator[str]:
    """Whose home the data do not name, and what stands in its place."""
    own = ranking.baseline
    if not own.no_home:
        return
    reasons = "; or ".join(dict.fromkeys(own.no_home.values()))
    few = len(own.no_home) < own.targets
    who = f"{len(own.no_home):,} of {counted(own.targets, 'user')}" if few else "the attacked user"
    if not few and own.targets > 1:
        who = f"any of the {own.targets:,} users"
    yield (
        f"The cell's data name no home of {who}: {reasons}. In its place stands the heaviest "
        "place, where most measurements are, also in bounds on the home error."
    )


def remarks(prepared: Prepared, results: Sequence[TrialResult]) -> Iterator[str]:
    """What makes figures mean little: of the data, and of updates that were refused."""
    for remark in degenerate(prepared):
        yield f"{remark[0].upper()}{remark[1:]}."
    refused: Counter[str] = Counter()
    for each in results:
        refused[each.configuration] += each.refused
    listed = "; ".join(f"{name} ({count:,})" for name, count in refused.items() if count)
    if listed:
        yield f"Updates were refused, and the rounds went on without them: {listed}."


def table_lines(ranking: Ranking) -> Iterator[tuple[str, ...]]:
    """The panel under a line of heads: what the map is worth, what attacks are left with, by which.

    Medians, and the nearest that any attack comes to home in any run; so it fits a terminal. Below
    stand the guesses that see no message.
    """
    spec = figure_name(ranking.privacy).spec
    is_home = ranking.privacy == HOME_ERROR
    left_with = f"{ranking.baseline.place}, m" if is_home else figure_name(ranking.privacy).head
    yield "configuration", "RMSE, dB", "loss", "skill (of central)", left_with, "worst", "by"
    for each in ranking.configurations:
        best, worst_m = each.strongest.get(ranking.privacy), each.home_at_worst_m
        left = format(best.figure.median, spec) if best else "-"
        worst = format(worst_m, spec) if worst_m is not None else "-"
        rmse = f"{each.rmse_db.median:.2f}", f"{each.rmse_loss_db:+.2f}"
        yield each.name, *rmse, _worth(each), left, worst, best.attack if best else "-"
    for guess in ranking.baseline.guesses.get(ranking.privacy, ()):
        figures = (format(value, spec) for value in (guess.figure.median, guess.figure.least))
        yield GUESS_NAMES[guess.attack], "", "", "", *figures, ""


def sentences(ranking: Ranking) -> Iterator[str]:
    """What else is to be said, the most important first."""
    yield from _better(ranking)
    yield _map(ranking.baseline)
    yield from _frontier(ranking)
    yield from _caveats(ranking)
    for name, why in ranking.failed.items():
        yield f"{name} has no figures: {why}."


def knows(settings: AuditSettings) -> tuple[str, ...]:
    """What the attacker was allowed to know."""
    return (*KNOWS, f"that a round lasts {settings.task.interval}, and when it began")


def oracle(names: Sequence[str]) -> tuple[str, ...]:
    """What was used that no real server has."""
    return tuple(ORACLE.get(name, name) for name in names)


def _better(ranking: Ranking) -> Iterator[str]:
    """Those of the frontier that are more private, the cheapest first."""
    own, privacy = ranking.baseline, ranking.privacy
    better = [each for each in ranking.frontier if each.hidden(privacy) > own.hidden(privacy)]
    if not better and len(ranking.configurations) > 1:
        yield "No other configuration is more private."
    for each in better:
        yield f"With {each.name}: {hidden(each, privacy)}, {cost(each)}.{but(each)}"


def _map(own: Ranked) -> str:
    constant = f"the constant (mean) baseline has {own.rmse_constant_db:.2f} dB"
    text = f"The map of {own.name} has an RMSE of {decibels(own.rmse_db)}; {constant}"
    if not own.beats_constant:
        return f"{text}. By place the map is no better: {BETTER_MAP}."
    central = own.share_of_central
    share = "" if central is None else f", {central:.0%} of what kriging all measurements has"
    return f"{text}. By place its skill is {own.skill_by_place:.2f}{share}."


def _frontier(ranking: Ranking) -> Iterator[str]:
    names = "; ".join(one.name for one in ranking.frontier)
    against = "the distance between true and found places (EMD)"
    if ranking.privacy == HOME_ERROR:
        is_home = ranking.baseline.place == "home"
        against = "home error" if is_home else "the error of the heaviest place"
    yield f"On the frontier of RMSE and {against}: {names}."
    beaten = [one for one in ranking.configurations if not one.is_on_frontier]
    if beaten:
        listed = "; ".join(f"{one.name} (by {one.dominated_by})" for one in beaten)
        yield f"Dominated (another is at least as good in both and better in one): {listed}."


def _caveats(ranking: Ranking) -> Iterator[str]:
    own, rest = ranking.baseline, ranking.configurations[1:]
    worse = [each.name for each in ranking.configurations if not each.beats_constant]
    if worse:
        yield f"Maps no better by place than the constant baseline: {'; '.join(worse)}."
    blind = [each.name for each in rest if each.is_blind]
    if blind:
        yield f"No attack does better than a guess that sees no message with: {'; '.join(blind)}."
    yield from _unread(ranking.configurations)
    yield from _choice(own, ranking.privacy)
    if own.seeds == 1:
        yield "Only one seed: results may vary with more."


def _choice(own: Ranked, privacy: str) -> Iterator[str]:
    """How the strongest attack of the baseline is chosen, where that matters."""
    best = own.strongest.get(privacy)
    if best is None:
        return
    if own.chosen_on == "the same run":
        yield "The strongest attack is chosen on the run that it is scored on, which favours it."
    later, name = best.hindsight, figure_name(privacy)
    if later is not None and _apart_by(best, later, name):
        figure = figure_text(later.figure, name.spec, name.unit)
        yield (
            f"The strongest attack is chosen on {own.chosen_on} than it is scored on. Hindsight "
            f"would choose {later.attack} for {own.name}, with {figure}."
        )


def _apart_by(one: Strongest, other: Strongest, name: FigureName) -> bool:
    """Whether readers would see a difference."""
    return name.text(one.figure.median) != name.text(other.figure.median)


def _unread(configurations: Sequence[Ranked]) -> Iterator[str]:
    """Which configurations seem private because fewer methods attacked them."""
    for attacks in dict.fromkeys(each.unread for each in configurations if each.unread):
        names = "; ".join(each.name for each in configurations if each.unread == attacks)
        yield (
            f"Not attacked by {' and '.join(attacks)}, which cannot read this kind of map, and so "
            f"perhaps less private than it looks: {names}."
        )


def _worth(each: Ranked) -> str:
    """``0.28 (31%)``: the skill by place, and its share of central kriging's."""
    if each.skill_by_place is None:
        return "-"
    share = "" if each.share_of_central is None else f" ({each.share_of_central:.0%})"
    return f"{each.skill_by_place:.2f}{share}"
