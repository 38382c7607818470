"""The attack of a curious server: the run behind ``veilmap attack``."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from veilmap.attacks.attack import Attack, AttackInput, attacked, can_read
from veilmap.attacks.gradient_matching.dlg import UPDATES_AT_ONCE
from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.methods import METHODS
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.secure_sum import SUM
from veilmap.errors import UserError, refuse_several
from veilmap.federation.map_family import MapFamily, flat_change
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.local_data import LocalData
from veilmap.maps.families import MissingMap
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.measurements import Measurements
from veilmap.metrics.distances import FEWER_PROJECTIONS
from veilmap.metrics.scores import Scores, score
from veilmap.model.device import DeviceName, torch_device, torch_for
from veilmap.model.network import Network
from veilmap.model.threads import one_thread
from veilmap.streams import stream
from veilmap.study.attack_files import AttackFolder
from veilmap.study.attack_notation import OURS
from veilmap.study.attack_run import AttackRun, best_starts
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.attack_target import Target, target_of
from veilmap.study.elsewhere import Run, messages_elsewhere, run_name
from veilmap.study.evidence.evidence import Evidence
from veilmap.study.evidence.opening import open_evidence
from veilmap.study.guesses import guesses_about
from veilmap.study.neighbours import people_besides, steps_of, wants
from veilmap.theory import PredictedError, predict_error


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
    header, target = evidence.updates.header, target_of(evidence, settings.who)
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


def _others(target: Target, attacks: Mapping[str, Attack]) -> dict[int, Observation]:
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
    target: Target, every: Sequence[Reconstruction], seed: int, projections: int = 1000
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


def _layer_norms(header: Header, observation: Observation) -> tuple[float, ...]:
    """Of the leaked gradient: of a dense network layer by layer, of another map as a whole."""
    if not isinstance(header.map, Network):
        change = flat_change(observation.state, observation.message)
        return (float(np.linalg.norm(change.astype(np.float64))),)
    # In float64: the square of an element of 1e20 is no float32, and no JSON has its infinity.
    layers = header.map.layers(leaked_gradient(observation))
    return tuple(float(np.hypot(np.linalg.norm(w), np.linalg.norm(b))) for w, b in layers)
