from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.attacks.worlds import SMALL, around, make_header, observe
from veilmap.attacks.gradient_matching import device_transfer
from veilmap.attacks.gradient_matching.device_transfer import transferred
from veilmap.attacks.leak import leaked_gradient
from veilmap.federation.map_family import WEIGHTS

CPU = torch.device("cpu")


def make_updates(shared=(0, 0, 0, 1, 2, 3, 3)):
    """One per entry, which says from whose weights it starts."""
    header = make_header()
    return [
        observe(header, around([0.4, 0.5], 9, seed=i), seed=start, user=str(i))
        for i, start in enumerate(shared)
    ]


@pytest.fixture(autouse=True)
def as_on_a_gpu(monkeypatch):
    """Several at once."""
    monkeypatch.setitem(device_transfer.MOST_UPDATES, "cpu", 4)


def users(chunks):
    return [[each.user for each in chunk.observations] for chunk in chunks]


def test_a_chunk_is_of_one_round_or_of_one_update_a_round():
    chunks = list(transferred(make_updates(), CPU))
    assert users(chunks) == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    assert [len(chunk.before) for chunk in chunks] == [1, 3, 1]


def test_a_round_read_in_parts_is_one_round():
    first, second = make_updates((0, 0))
    again = replace(second, state={WEIGHTS: second.weights_before.copy()})
    assert users(transferred([first, again], CPU)) == [["0", "1"]]


def test_the_gradients_are_those_leaked_at_length_1():
    updates = make_updates()
    rows = []
    for chunk in transferred(updates, CPU):
        matching = chunk.objective(make_header(SMALL))
        rows += list(torch.cat([block.flatten(1) for block in matching.gradient], 1).numpy())
    for each, row in zip(updates, rows, strict=True):
        leaked = leaked_gradient(each)
        np.testing.assert_allclose(row, leaked / np.linalg.norm(leaked), rtol=1e-12)


@pytest.mark.parametrize("count", [0, 1])
def test_few_updates_are_few_chunks(count):
    assert len(list(transferred(make_updates()[:count], CPU))) == count


@pytest.mark.parametrize(
    "rows",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4),
        np.arange(12, dtype=np.float32).reshape(3, 4)[::-1],
        np.arange(24, dtype=np.float32).reshape(3, 8)[:, ::2],
        np.arange(12, dtype=np.float32).reshape(4, 3).T,
        np.arange(8, dtype=np.float32).reshape(1, 8)[:, ::2],
        np.lib.stride_tricks.sliding_window_view(np.arange(6, dtype=np.float32), 4),
    ],
    ids=["side by side", "reversed", "every other", "columns", "one, every other", "overlapping"],
)
def test_vectors_become_rows_wherever_they_lie(rows):
    out = np.empty(rows.shape, np.float32)
    device_transfer.stack(list(rows), out)
    np.testing.assert_array_equal(out, rows)
