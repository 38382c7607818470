"""How ``Rows`` goes through updates: as many at once as fit the memory."""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.rows.batches import in_batches
from veilmap.attacks.rows.place_fit import Explained, reconstruction
from veilmap.attacks.rows.rows import Rows
from veilmap.attacks.rows.square_search import SquareSearch
from veilmap.attacks.rows.updated_layers import UpdatedLayers
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import torch_device


def find_places(rows: Rows, given: AttackInput) -> list[Reconstruction]:
    """One reconstruction per update, in their order."""
    device, found = torch_device(given.device), list[Reconstruction]()

    def work(some: range) -> list[Reconstruction]:
        return _at_one_go(rows, given.header, [given.observations[i] for i in some], device)

    for batch in in_batches(work, len(given.observations), given.header, device):
        found += batch
        given.on_done(len(batch))
    return found


@torch.inference_mode()
def _at_one_go(
    rows: Rows, header: Header, observations: Sequence[Observation], device: torch.device
) -> list[Reconstruction]:
    before = time.perf_counter()
    layers = UpdatedLayers.of(header, observations, device)
    moved = layers.rows.flatten(1).any(1).nonzero()[:, 0]
    found = dict(zip(moved.tolist(), explained(rows, header, layers, moved), strict=True))
    seconds = (time.perf_counter() - before) / len(observations)
    return [reconstruction(each, found.get(i), seconds) for i, each in enumerate(observations)]


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
