"""The attack of a curious server: the run behind ``veilmap attack``."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from veilmap.attacks.attack import Attack, AttackInput, attacked, can_read
from veilmap.attacks.gradient_matching.dlg import UPDATES_AT_ONCE
from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.methods import METHODS
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.secure_sum import SUM, secure_sum
from veilmap.errors import UserError, refuse_several, shown
from veilmap.federation.map_family import MapFamily, flat_change
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.local_data import LocalData, Truth
from veilmap.maps.families import MissingMap
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.measurements import Measurements
from veilmap.metrics.distances import FEWER_PROJECTIONS
from veilmap.metrics.places import Place
from veilmap.metrics.scores import Scores, score, true_places
from veilmap.model.device import DeviceName, torch_device, torch_for
from veilmap.model.network import Network
from veilmap.model.threads import one_thread
from veilmap.rounds import FEWEST_ROUNDS
from veilmap.streams import stream
from veilmap.study.attack_files import AttackFolder
from veilmap.study.attack_notation import OURS
from veilmap.study.attack_run import AttackRun, best_starts
from veilmap.study.attack_settings import AttackSettings, Who
from veilmap.study.elsewhere import Run, messages_elsewhere, run_name
from veilmap.study.evidence.evidence import Evidence
from veilmap.study.evidence.opening import open_evidence
from veilmap.study.guesses import guesses_about
from veilmap.study.neighbours import people_besides, steps_of, wants
from veilmap.theory import PredictedError, predict_error
from veilmap.transcript import Entry
from veilmap.wording import listed


def attack(
    path: str | Path | Evidence,
    settings: AttackSettings | None = None,
    *,
    data: Measurements | None = None,
    cell: str | None = None,
    timezone: str | None = None,
    map: MapFamily | None = None,
    also: Sequence[Run] = (),
    out: str | Path | None = None,
    overwrite: bool = False,
    keep_path: bool = False,
    theory: bool | Literal["theorem 1"] = False,
    device: DeviceName = "cpu",
    on_begin: Callable[[int], None] = lambda attacks: None,
    on_done: Callable[[int], None] = lambda attacks: None,
    on_training: Callable[[int, int], None] = lambda done, steps: None,
    **keywords: Any,
) -> AttackRun:
    """Find where a user was from what the server saw.

    Args:
        path: the folder that ``train`` made, or a transcript, or evidence in memory.
        settings: everything that decides the attacks; or give ``keywords`` instead, such as
            ``method=("search", "heatmap"), target="0"``.
        data: the measurements, if the run does not say where they are or if it is a transcript.
        cell: the cell in them, for a transcript.
        timezone: the clock that home and work go by, for a transcript.
        map: the map family, where no installed package has that of the run.
        also: runs of other cell towers with the same users, for attacks that read all that a user
            sent, such as ``joint``.
        out: a folder for ``results.json`` and the places found (GeoJSON).
        overwrite: replace earlier results in it.
        keep_path: keep the trajectory of every DLG attack.
        theory: also compute the errors that Theorems 1 and 2 predict, or only the first, which is
            many times faster.
        device: where attacks are computed; the results are the same to rounding.
        on_begin: called with the number of attacks on single updates.
        on_done: called with the number that have finished since its last call.
        on_training: called while an attack is trained, with the steps done, and of how many.
        **keywords: single settings by name, instead of ``settings``.

    Raises:
        UserError: the transcript, the data or a setting do not allow it.
    """
    refuse_several("attack", settings=settings, keywords=keywords)
    settings = AttackSettings.of(**keywords) if settings is None else settings
    if device != "cpu":
        torch_device(device)  # before anything is read, which may take long
    folder = None if out is None else AttackFolder(out)
    if folder is not None:
        folder.refuse_taken(overwrite)
    if isinstance(path, Evidence):
        evidence = path
    else:
        evidence = open_evidence(path, data, cell, timezone, map)
    # One thread: the products are small, and bits must not depend on the number of cores.
    with nullcontext() if folder is None else folder.held(overwrite), one_thread():
        run = _attack(
            evidence, settings, also, keep_path, theory, device, on_begin, on_done, on_training
        )
        if folder is not None:
            folder.write(run)
    return run


@dataclass(frozen=True)
class _Target:
    """The user to find, or the sums of all.

    Attributes:
        evidence: of all users.
        summed: whether the sums are attacked.
        name: the user's, or that of the sums if they are to tell about all users.
        senders: the users behind the update of each round that is attacked.
        truth: all points that they measured in each round; None if they are not known.
    """

    evidence: Evidence
    summed: bool
    name: str
    senders: Mapping[int, Sequence[str]]
    truth: Mapping[int, LocalData] | None

    @cached_property
    def true_places(self) -> Sequence[Place] | None:
        """The same for all attacks; None without the truth."""
        if self.truth is None:
            return None
        return true_places([self.truth[t] for t in self.senders], self.evidence.timezone)

    def updates(self) -> Iterator[Observation]:
        """Those that are attacked, in the order of their rounds."""
        everyone = self.evidence.updates
        updates = everyone if self.summed else everyone.of_user(self.name)
        chosen = (each for each in updates if each.round in self.senders)
        return secure_sum(everyone.header, chosen) if self.summed else chosen

    def others(self) -> dict[int, Observation]:
        """Of sums that are to tell about one user, those of everybody else by round."""
        if not self.summed or self.name == SUM:
            return {}
        updates = self.evidence.updates
        chosen = (e for e in updates if e.round in self.senders and e.user != self.name)
        return {each.round: each for each in secure_sum(updates.header, chosen)}

    def batch(self, t: int) -> LocalData | None:
        """The points that the update of round t was made from, if they are known."""
        known = self.evidence.updates.header.side_knowledge
        kept = self.evidence.batches.get(t, {})
        if all(user in kept for user in self.senders[t]):
            return LocalData.join([kept[user] for user in self.senders[t]])
        # A cumulative update was made from all rounds so far, a defended one from other points.
        if self.truth is None or known.training.cumulative or known.defence:
            return None
        if self.summed and self.name != SUM:
            return None  # the truth is of one user, the update of all
        return self.truth[t]


def _attack(
    evidence: Evidence,
    settings: AttackSettings,
    also: Sequence[Run],
    keep_path: bool,
    theory: bool | Literal["theorem 1"],
    device: DeviceName,
    on_begin: Callable[[int], None],
    on_done: Callable[[int], None],
    on_training: Callable[[int, int], None],
) -> AttackRun:
    """Attack the target's updates with all methods that can read the map family."""
    header, target = evidence.updates.header, _target(evidence, settings.who)
    guesses = guesses_about(evidence, target.name)
    torch_for(header.map)
    truth = target.truth
    centroids_m = None if truth is None else {t: data.centroid_m for t, data in truth.items()}
    made = settings.make(centroids_m, keep_path)
    attacks = {name: each for name, each in made.items() if can_read(each, name, header)}
    unread = tuple(name for name in made if name not in attacks)
    if settings.who.method == METHODS and isinstance(header.map, NetworkMap | KrigingMap):
        unread = ()  # each of our maps has attacks of its own
    if not attacks:
        raise _unreadable(header, unread)
    if also and not wants(attacks, "reads_elsewhere"):
        raise UserError(
            "none of these attacks reads messages to other towers; add joint to --method, or leave "
            "out --also"
        )
    elsewhere = messages_elsewhere(also, header, target.name)
    on_begin(len(target.senders) * len(attacks))
    every: dict[str, list[Reconstruction]] = {name: [] for name in attacks}
    guessed: dict[str, list[Reconstruction]] = {name: [] for name in guesses.attacks}
    norms: dict[int, tuple[float, ...]] = {}
    predicted: dict[int, PredictedError | None] = {}
    others = _others(target, attacks)
    steps = steps_of(evidence, target.name) if wants(attacks, "reads_steps") else ()
    people = people_besides(evidence, target.name) if wants(attacks, "reads_people") else ()

    def run(method: Attack, name: str, observations: Sequence[Observation]) -> None:
        # From sums alone a server cannot leave the target out.
        is_known = not target.summed or getattr(method, "reads_others", False)
        given = AttackInput(
            header,
            observations,
            on_done,
            device,
            density=guesses.density if is_known else None,
            others=others,
            steps=steps,
            people=people,
            elsewhere=elsewhere if getattr(method, "reads_elsewhere", False) else (),
            found=every if getattr(method, "reads_found", False) else {},
            on_training=on_training,
        )
        every[name] += attacked(method, name, given)

    whole = {name: each for name, each in attacks.items() if getattr(each, "all_at_once", False)}
    updates, kept = target.updates(), list[Observation]()
    while chunk := list(islice(updates, UPDATES_AT_ONCE[device])):
        for each in chunk:
            norms[each.round] = _layer_norms(header, each)
            if theory:
                batch, theorem_2 = target.batch(each.round), theory != "theorem 1"
                predicted[each.round] = _predict(header, each, batch, settings.who.seed, theorem_2)
        for name, method in attacks.items():
            if name not in whole:
                run(method, name, chunk)
        for name, guess in guesses.attacks.items():
            guessed[name] += guess.attack(AttackInput(header, chunk))
        if whole:
            kept += chunk
    for name, method in whole.items():
        run(method, name, kept)
    return AttackRun(
        path=str(evidence.path or "memory"),
        header=header,
        configuration=evidence.configuration,
        settings=settings,
        target=target.name,
        truth=truth,
        why_no_truth=evidence.why_no_truth,
        timezone=evidence.timezone,
        every=every,
        scores={name: _score(target, found, settings.who.seed) for name, found in every.items()},
        guesses={
            name: _score(target, found, settings.who.seed, FEWER_PROJECTIONS)
            for name, found in guessed.items()
        },
        prior=guesses.prior,
        norms=norms,
        predicted=predicted,
        oracle=_oracle(header, {**attacks, **guesses.attacks}),
        unread=unread,
        also=tuple(map(run_name, also)),
    )


def _others(target: _Target, attacks: Mapping[str, Attack]) -> dict[int, Observation]:
    """For the attacks that know everybody else's messages."""
    for name, each in attacks.items():
        if getattr(each, "reads_others", False):
            if target.summed and target.name == SUM:
                raise UserError(
                    f"{name} takes everybody else's messages away from a sum and needs to know "
                    "from whom; name a user with --target"
                )
            return target.others()
    return {}


def _unreadable(header: Header, asked: Sequence[str]) -> UserError:
    if isinstance(header.map, MissingMap):
        called = header.map.called
        way_out = "give the object in Python, map=…, or install the package that registers it"
    else:
        called = header.map.name
        able = [name for name, kind in OURS.items() if kind().reads(header)]
        own = "write an attack that can, as docs/extending.md shows"
        way_out = f"add to --method one of: {', '.join(able)}" if able else own
    return UserError(
        f"no attack asked for can read the map {called}: {', '.join(asked)}; {way_out}"
    )


def _score(
    target: _Target, every: Sequence[Reconstruction], seed: int, projections: int = 1000
) -> Scores:
    """Of the best starts, with the work of all."""
    found = best_starts(every)
    spent = {t: [each for each in every if each.round == t] for t in target.senders}
    known = target.evidence.updates.header.side_knowledge
    scores = score(
        None if target.truth is None else [target.truth[each.round] for each in found],
        np.array([each.xy_m for each in found]),
        [(each.cloud.xy_m, each.cloud.weights) for each in found],
        n=[each.n for each in found],
        area=known.area,
        interval_s=known.interval_s,
        timezone=target.evidence.timezone,
        start_s=[each.start_s for each in found],
        iterations=[sum(e.iterations for e in spent[each.round]) for each in found],
        seconds=[sum(e.seconds for e in spent[each.round]) for each in found],
        seed=seed,
        projections=projections,
        places_in_truth=target.true_places,
    )
    # Cumulative updates are also about the places of earlier rounds.
    if known.training.cumulative:
        return replace(scores, nearest_m=None, nearest_random_m=None)
    return scores


def _predict(
    header: Header, observation: Observation, batch: LocalData | None, seed: int, theorem_2: bool
) -> PredictedError | None:
    # The theorems speak of the units of a dense network's first layer.
    known, network = header.side_knowledge, header.map
    if batch is None or not isinstance(network, Network):
        return None
    labels = (batch.rsrp_dbm - known.label_offset_dbm).astype(np.float32)
    mini_batch = known.scaler.standardise(batch.xy_m), labels
    pairs = stream(seed, "lipschitz", observation.round)
    return predict_error(
        network, observation.weights_before, mini_batch, known.scaler, pairs, theorem_2=theorem_2
    )


def _oracle(header: Header, attacks: Mapping[str, Attack]) -> tuple[str, ...]:
    used = (
        getattr(each, "oracle_text", f"what {name} knows")
        for name, each in attacks.items()
        if each.oracle
    )
    return (*header.side_knowledge.oracle, *used)


def _target(evidence: Evidence, who: Who) -> _Target:
    summed = who.secure_aggregation
    aggregation = evidence.updates.header.side_knowledge.training.aggregation
    if summed and aggregation != "mean":
        raise UserError(
            f"the run has --aggregation {aggregation}, for which a server must see every single "
            "update; leave out --secure-aggregation, or train with --aggregation mean"
        )
    entries = list(evidence.updates.entries())
    about_all = summed and who.target is None
    name = SUM if about_all else _user(entries, who.target, evidence)
    of_round: dict[int, list[str]] = {}
    for each in entries:
        if summed or each.user == name:
            of_round.setdefault(each.round, []).append(each.user)
    if summed and not about_all:
        of_round = {t: users for t, users in of_round.items() if name in users}
    senders = dict(list(of_round.items())[:: who.every])
    about = senders if about_all else {t: [name] for t in senders}
    truth = None if evidence.truth is None else _truth_of(about, evidence.truth)
    return _Target(evidence, summed, name, senders, truth)


def _truth_of(senders: Mapping[int, Sequence[str]], truth: Truth) -> dict[int, LocalData]:
    """All points that the senders of an update measured in each round."""
    found = {}
    for t, users in senders.items():
        missing = [user for user in users if user not in truth.get(t, {})]
        if missing:
            raise UserError(
                f"the data has no rows of user {shown(missing[0])} in round {t}; give the "
                "measurements that the transcript was made from, and its --cell"
            )
        found[t] = LocalData.join([truth[t][user] for user in users])
    return found


def _user(entries: Sequence[Entry], target: str | None, evidence: Evidence) -> str:
    """The target asked for, or the user who measured most; without the truth, who sent most.

    A defence may make the user who measured most send few points. Users who sent in three rounds
    or more go before the others.
    """
    points = Counter[str]()
    rounds = Counter(each.user for each in entries)
    for each in entries:
        known = (evidence.truth or {}).get(each.round, {}).get(each.user)
        points[each.user] += each.n if known is None else len(known)
    if not points:
        raise UserError(
            "the transcript is empty: no round was finished, the defence left no phone a point to "
            "train on, or what phones sent was no update; train again"
        )
    densest = [user for user, _ in points.most_common()]
    if target is not None and target not in points:
        raise UserError(f"{_why_unseen(target, evidence)}; choose one of: {listed(densest)}")
    enough = [user for user in densest if rounds[user] >= FEWEST_ROUNDS]
    return (enough or densest)[0] if target is None else target


def _why_unseen(target: str, evidence: Evidence) -> str:
    """Why the transcript has no update of a user."""
    if target in evidence.refused:
        return (
            f"the updates of user {shown(target)} were refused ({evidence.refused[target][:100]})"
        )
    if any(target in of_round for of_round in (evidence.truth or {}).values()):
        return (
            f"user {shown(target)} measured, but the transcript has no update of theirs: all were "
            "refused as malformed, or the defence left nothing to train on"
        )
    return f"there is no user {shown(target)} in the transcript"


def _layer_norms(header: Header, observation: Observation) -> tuple[float, ...]:
    """Of the leaked gradient: of a dense network layer by layer, of another map as a whole."""
    if not isinstance(header.map, Network):
        change = flat_change(observation.state, observation.message)
        return (float(np.linalg.norm(change.astype(np.float64))),)
    # In float64: the square of an element of 1e20 is no float32, and no JSON has its infinity.
    layers = header.map.layers(leaked_gradient(observation))
    return tuple(float(np.hypot(np.linalg.norm(w), np.linalg.norm(b))) for w, b in layers)
