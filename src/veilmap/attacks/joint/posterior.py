"""How ``Joint`` goes from messages to places."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.joint.readings import Message, read_messages
from veilmap.attacks.joint.refit import refit
from veilmap.attacks.joint.shared_places import (
    PLACE_M,
    Floats,
    SharedPlaces,
    places_of,
    shared_places,
)
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.attacks.rows.batches import in_batches
from veilmap.attacks.rows.place_fit import Explained, reconstruction
from veilmap.attacks.rows.silence import possible_between
from veilmap.attacks.rows.updated_layers import UpdatedLayers
from veilmap.federation.observation import Observation
from veilmap.model.device import torch_device

# Smaller shares are left out of a round's cloud.
_LEAST = 1e-5
_CORNERS = ((-1, -1), (1, -1), (-1, 1), (1, 1))


@torch.inference_mode()
def find_places(given: AttackInput) -> list[Reconstruction]:
    """One reconstruction per update of the run, in their order."""
    before, device = time.perf_counter(), torch_device(given.device)
    messages = [each for each in _messages(given) if each.readings]
    own = [each for each in messages if each.header is given.header]
    found = list[Explained]()
    if messages:
        shared = _shared(messages, device)
        found = [_of_mixture(shared, i, each) for i, each in enumerate(own)]
        for i, each in _of_rows(own, shared, device):
            found[i] = each
    seconds = (time.perf_counter() - before) / max(len(given.observations), 1)
    given.on_done(len(given.observations))
    by_update = {_key(message.observation): each for message, each in zip(own, found, strict=True)}
    return [reconstruction(each, by_update.get(_key(each)), seconds) for each in given.observations]


def _key(observation: Observation) -> tuple[int, str]:
    return observation.round, observation.user


def _messages(given: AttackInput) -> Iterator[Message]:
    """Those of the run, then those to other towers."""
    quiet = replace(given, on_done=lambda count: None)
    yield from read_messages(quiet)
    for header, observations in given.elsewhere:
        there = replace(quiet, header=header, observations=observations, found={})
        yield from read_messages(there)


def _shared(messages: Sequence[Message], device: torch.device) -> SharedPlaces:
    readings = [each.useful for each in messages]
    n = [each.observation.n for each in messages]
    xy_m = places_of(readings, n)
    possible = np.array([_possible(each, xy_m, device) for each in messages])
    return shared_places(xy_m, readings, n, possible)


def _possible(message: Message, xy_m: Floats, device: torch.device) -> NDArray[np.bool_]:
    """Which squares of places may hold points of a message, as its silent units say."""
    layers = UpdatedLayers.of(message.header, [message.observation], device)
    places = torch.from_numpy(xy_m).to(device)[None]
    corners = [places + PLACE_M / 2 * places.new_tensor(each) for each in _CORNERS]
    possible: NDArray[np.bool_] = possible_between(message.header, layers, corners)[0].cpu().numpy()
    return possible


def _of_mixture(shared: SharedPlaces, number: int, message: Message) -> Explained:
    shares = shared.of_round[number]
    some = shares > _LEAST
    cloud = Cloud(shared.xy_m[some], shares[some] / shares[some].sum())
    return Explained(cloud, message.best.cosine)


def _of_rows(
    own: Sequence[Message], shared: SharedPlaces, device: torch.device
) -> Iterator[tuple[int, Explained]]:
    """For messages of which the rows say clearly more than the first layer."""
    leading = [i for i, each in enumerate(own) if each.rows_lead]
    if not leading:
        return
    header = own[0].header
    xy_m, overall = (torch.from_numpy(each).to(device) for each in (shared.xy_m, shared.overall))

    def work(some: range) -> list[Explained | None]:
        numbers = [leading[i] for i in some]
        layers = UpdatedLayers.of(header, [own[i].observation for i in numbers], device)
        of_round = torch.from_numpy(shared.of_round[numbers]).to(device)
        return refit(header, layers, xy_m, of_round, overall)

    results = chain.from_iterable(in_batches(work, len(leading), header, device))
    for i, explained in zip(leading, results, strict=True):
        if explained is not None:
            yield i, explained
