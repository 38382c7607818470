"""How ``Rows`` goes through updates: as many at once as fit the memory."""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.rows.place_fit import Explained
from veilmap.attacks.rows.rows import Rows
from veilmap.attacks.rows.square_search import SquareSearch
from veilmap.attacks.rows.updated_layers import UpdatedLayers
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import free_bytes, torch_device

# The share of a GPU's free memory to fill, and about how many parts there are.
_FILLED, _PARTS = 0.5, 700


def find_places(rows: Rows, given: AttackInput) -> list[Reconstruction]:
    """One reconstruction per update, in their order."""
    device, found = torch_device(given.device), list[Reconstruction]()
    size = _at_once(given.header, device)
    for start in range(0, len(given.observations), size):
        batch = given.observations[start : start + size]
        found += _reconstructions(rows, given.header, batch, device)
        given.on_done(len(batch))
    return found


def _at_once(header: Header, device: torch.device) -> int:
    """How many updates fit the memory; on the CPU one, which stays in the caches."""
    if device.type == "cpu":
        return 1
    # Mostly pairs of parts: their matrix, and temporaries while it is made.
    numbers = 15 * _PARTS**2 + 3 * header.network.size
    return max(int(_FILLED * free_bytes(device) / (8 * numbers)), 1)


def _reconstructions(
    rows: Rows, header: Header, observations: Sequence[Observation], device: torch.device
) -> list[Reconstruction]:
    """All at once, or in halves if their squares are so many that they do not fit the memory."""
    try:
        return _at_one_go(rows, header, observations, device)
    except torch.OutOfMemoryError:
        if len(observations) == 1:
            raise
    # Outside the handler, because the error keeps tensors alive.
    middle = len(observations) // 2
    parts = observations[:middle], observations[middle:]
    return [each for part in parts for each in _reconstructions(rows, header, part, device)]


@torch.inference_mode()
def _at_one_go(
    rows: Rows, header: Header, observations: Sequence[Observation], device: torch.device
) -> list[Reconstruction]:
    before = time.perf_counter()
    layers = UpdatedLayers.of(header, observations, device)
    moved = layers.rows.flatten(1).any(1).nonzero()[:, 0]
    found = dict(zip(moved.tolist(), explained(rows, header, layers, moved), strict=True))
    seconds = (time.perf_counter() - before) / len(observations)
    return [_reconstruction(each, found.get(i), seconds) for i, each in enumerate(observations)]


def _reconstruction(
    observation: Observation, found: Explained | None, seconds: float
) -> Reconstruction:
    if found is None:
        return Reconstruction.nothing(observation)
    cloud = found.cloud
    return Reconstruction.of(
        observation, cloud.mean_m, cosine=found.cosine, seconds=seconds, cloud=cloud
    )


def explained(
    rows: Rows, header: Header, layers: UpdatedLayers, some: Tensor
) -> list[Explained | None]:
    """The distributions found for some updates; None where squares explain nothing.

    In a few steps directions and columns may explain everything; without them squares must.
    """
    if not len(some):
        return []
    found = SquareSearch.of(rows, header, layers.keep(some)).explain()
    left = [i for i, each in enumerate(found) if each is None]
    if left:
        alone = layers.keep(some[left])
        again = SquareSearch.of(rows, header, alone, squares_only=True).explain()
        for i, each in zip(left, again, strict=True):
            found[i] = each
    return found
