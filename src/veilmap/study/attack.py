"""The attack of a curious server: the run behind ``veilmap attack``."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.attack import Attack, AttackInput, attacked
from veilmap.attacks.gradient_matching.dlg import UPDATES_AT_ONCE, Dlg
from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.secure_sum import SUM, secure_sum
from veilmap.errors import UserError, shown
from veilmap.federation.map_family import MapFamily, flat_change
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import LocalData, Truth
from veilmap.measurements import Measurements
from veilmap.metrics.scores import Scores, score
from veilmap.model.device import DeviceName, torch_device
from veilmap.model.network import Network
from veilmap.model.threads import one_thread
from veilmap.streams import stream
from veilmap.study.attack_files import AttackFolder
from veilmap.study.attack_run import AttackRun, best_starts
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.evidence.evidence import Evidence
from veilmap.study.evidence.opening import open_evidence
from veilmap.theory import PredictedError, predict_error
from veilmap.transcript import Entry


def attack(
    path: str | Path | Evidence,
    settings: AttackSettings | None = None,
    *,
    data: Measurements | None = None,
    cell: str | None = None,
    timezone: str | None = None,
    map: MapFamily | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    keep_path: bool = False,
    theory: bool | Literal["theorem 1"] = False,
    device: DeviceName = "cpu",
    on_begin: Callable[[int], None] = lambda attacks: None,
    on_done: Callable[[int], None] = lambda attacks: None,
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
        out: a folder for ``results.json`` and the places found (GeoJSON).
        overwrite: replace earlier results in it.
        keep_path: keep the trajectory of every DLG attack.
        theory: also compute the errors that Theorems 1 and 2 predict, or only the first, which is
            many times faster.
        device: where attacks are computed; the results are the same to rounding.
        on_begin: called with the number of attacks on single updates.
        on_done: called with the number that have finished since its last call.
        **keywords: single settings by name, instead of ``settings``.

    Raises:
        UserError: the transcript, the data or a setting do not allow it.
    """
    if settings is not None and keywords:
        raise UserError("attack takes settings or keywords, not both")
    settings = AttackSettings.of(**keywords) if settings is None else settings
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
        run = _Work(evidence, settings, keep_path, theory, device).run(on_begin, on_done)
        if folder is not None:
            folder.write(run)
    return run


class _Work:
    """One target's updates, attacked with all methods."""

    def __init__(
        self,
        evidence: Evidence,
        settings: AttackSettings,
        keep_path: bool,
        theory: bool | Literal["theorem 1"],
        device: DeviceName,
    ) -> None:
        self._evidence, self._settings, self._theory = evidence, settings, theory
        self._device = device
        self._header = evidence.updates.header
        entries = list(evidence.updates.entries())
        self._summed = settings.who.secure_aggregation
        _refuse_sums_of(self._header.side_knowledge, self._summed)
        self._target = SUM if self._summed else _target(entries, settings, evidence)
        everyone: dict[int, list[str]] = {}
        for each in entries:
            if self._summed or each.user == self._target:
                everyone.setdefault(each.round, []).append(each.user)
        self._users = dict(list(everyone.items())[:: settings.who.every])
        self._truth = None if evidence.truth is None else self._truth_of_target(evidence.truth)
        self._attacks = self._readable(settings.make(self._centroids_m(), keep_path))

    def run(self, on_begin: Callable[[int], None], on_done: Callable[[int], None]) -> AttackRun:
        on_begin(len(self._users) * len(self._attacks))
        every: dict[str, list[Reconstruction]] = {name: [] for name in self._attacks}
        norms: dict[int, tuple[float, ...]] = {}
        predicted: dict[int, PredictedError | None] = {}
        for chunk in self._chunks():
            norms |= {each.round: _layer_norms(self._header, each) for each in chunk}
            if self._theory:
                predicted |= {each.round: self._predict(each) for each in chunk}
            for name, method in self._attacks.items():
                given = AttackInput(self._header, chunk, on_done, self._device)
                every[name] += attacked(method, name, given)
        return AttackRun(
            path=str(self._evidence.path or "memory"),
            header=self._header,
            configuration=self._evidence.configuration,
            settings=self._settings,
            target=self._target,
            truth=self._truth,
            why_no_truth=self._evidence.why_no_truth,
            every=every,
            scores={name: self._score(each) for name, each in every.items()},
            norms=norms,
            predicted=predicted,
            oracle=self._oracle(),
            unread=self._unread,
        )

    def _readable(self, attacks: dict[str, Attack]) -> dict[str, Attack]:
        """Those that can read this map family."""
        readable = {name: each for name, each in attacks.items() if each.reads(self._header)}
        self._unread = tuple(name for name in attacks if name not in readable)
        if not readable:
            raise UserError(
                f"no attack asked for can read this kind of map: {', '.join(self._unread)}; "
                "add dlg or search to --method"
            )
        return readable

    def _chunks(self) -> Iterator[list[Observation]]:
        """The target's updates, all at once if an attack asks for that."""
        updates = self._updates()
        whole = any(getattr(each, "all_at_once", False) for each in self._attacks.values())
        size = None if whole else UPDATES_AT_ONCE[self._device]
        while chunk := list(islice(updates, size)):
            yield chunk

    def _updates(self) -> Iterator[Observation]:
        transcript, rounds = self._evidence.updates, self._users
        if self._summed:
            return secure_sum(each for each in transcript if each.round in rounds)
        return (each for each in transcript.of_user(self._target) if each.round in rounds)

    def _centroids_m(self) -> dict[int, NDArray[np.float64]] | None:
        if self._truth is None:
            return None
        return {t: data.centroid_m for t, data in self._truth.items()}

    def _truth_of_target(self, truth: Truth) -> dict[int, LocalData]:
        """All points that the senders of an update measured in each round."""
        found = {}
        for t, users in self._users.items():
            missing = [user for user in users if user not in truth.get(t, {})]
            if missing:
                raise UserError(
                    f"the data has no rows of user {shown(missing[0])} in round {t}; give the "
                    "measurements that the transcript was made from, and its --cell"
                )
            found[t] = LocalData.join([truth[t][user] for user in users])
        return found

    def _score(self, every: Sequence[Reconstruction]) -> Scores:
        """Of the best starts, with the work of all."""
        found = best_starts(every)
        spent = {t: [each for each in every if each.round == t] for t in self._users}
        known = self._header.side_knowledge
        scores = score(
            None if self._truth is None else [self._truth[each.round] for each in found],
            np.array([each.xy_m for each in found]),
            [(each.cloud.xy_m, each.cloud.weights) for each in found],
            n=[each.n for each in found],
            area=known.area,
            interval_s=known.interval_s,
            timezone=self._evidence.timezone,
            start_s=[each.start_s for each in found],
            iterations=[sum(e.iterations for e in spent[each.round]) for each in found],
            seconds=[sum(e.seconds for e in spent[each.round]) for each in found],
            seed=self._settings.who.seed,
        )
        # Cumulative updates are also about the places of earlier rounds.
        if known.training.cumulative:
            return replace(scores, nearest_m=None, nearest_random_m=None)
        return scores

    def _predict(self, observation: Observation) -> PredictedError | None:
        known = self._header.side_knowledge
        batch = self._batch(observation.round)
        # The theorems speak of the units of a dense network's first layer.
        network = self._header.map
        if batch is None or not isinstance(network, Network):
            return None
        labels = (batch.rsrp_dbm - known.label_offset_dbm).astype(np.float32)
        mini_batch = known.scaler.standardise(batch.xy_m), labels
        pairs = stream(self._settings.who.seed, "lipschitz", observation.round)
        return predict_error(
            network,
            observation.weights_before,
            mini_batch,
            known.scaler,
            pairs,
            theorem_2=self._theory != "theorem 1",
        )

    def _batch(self, t: int) -> LocalData | None:
        """The points that the update of round t was made from, if they are known."""
        known, kept = self._header.side_knowledge, self._evidence.batches.get(t, {})
        if all(user in kept for user in self._users[t]):
            return LocalData.join([kept[user] for user in self._users[t]])
        # A cumulative update was made from all rounds so far, a defended one from other points.
        if self._truth is None or known.training.cumulative or known.defence:
            return None
        return self._truth[t]

    def _oracle(self) -> tuple[str, ...]:
        used = {name: each for name, each in self._attacks.items() if each.oracle}
        known = self._header.side_knowledge.oracle
        return (
            *known,
            *(
                f"the start of {name}" if isinstance(each, Dlg) else f"what {name} knows"
                for name, each in used.items()
            ),
        )


def _target(entries: Sequence[Entry], settings: AttackSettings, evidence: Evidence) -> str:
    """The target asked for, or the user who measured most; without the truth, who sent most.

    A defence may make the user who measured most send few points.
    """
    points: dict[str, int] = {}
    for each in entries:
        known = (evidence.truth or {}).get(each.round, {}).get(each.user)
        points[each.user] = points.get(each.user, 0) + (each.n if known is None else len(known))
    if not points:
        raise UserError(
            "the transcript is empty: no round was finished, the defence left no phone a point to "
            "train on, or what phones sent was no update; train again"
        )
    target = settings.who.target
    if target is None:
        return max(points, key=lambda user: points[user])
    if target not in points:
        dense = sorted(points, key=lambda user: -points[user])
        more = ", …" if len(dense) > 8 else ""
        raise UserError(
            f"{_why_unseen(target, evidence)}; choose one of: {', '.join(dense[:8])}{more}"
        )
    return target


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


def _refuse_sums_of(known: SideKnowledge, summed: bool) -> None:
    name = known.training.aggregation
    if summed and name != "mean":
        raise UserError(
            f"the run has --aggregation {name}, for which a server must see every single update; "
            "leave out --secure-aggregation, or train with --aggregation mean"
        )


def _layer_norms(header: Header, observation: Observation) -> tuple[float, ...]:
    """Of the leaked gradient: of a dense network layer by layer, of another map as a whole."""
    if not isinstance(header.map, Network):
        change = flat_change(observation.state, observation.message)
        return (float(np.linalg.norm(change.astype(np.float64))),)
    # In float64: the square of an element of 1e20 is no float32, and no JSON has its infinity.
    layers = header.map.layers(leaked_gradient(observation))
    return tuple(float(np.hypot(np.linalg.norm(w), np.linalg.norm(b))) for w, b in layers)
