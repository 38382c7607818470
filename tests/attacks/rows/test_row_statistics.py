"""What the rows of the second layer's update say, against the formula."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.attacks.worlds import FEDSGD, around, inside, make_data, make_header, observe
from veilmap.attacks.heatmap.squares import Squares
from veilmap.attacks.rows.row_statistics import RowStatistics
from veilmap.attacks.rows.updated_layers import UpdatedLayers, standardise
from veilmap.model.network import Network

NETWORK = Network((40, 400), ("relu", "sigmoid"), (0.05, 0.05), "pytorch")
PLACE_M = inside([0.3, 0.6])


def layers_of(header, *seen):
    return UpdatedLayers.of(header, seen, torch.device("cpu"))


def statistics_of(header, layers, places_m=None):
    """With units looked at all over the area, or at some places."""
    squares = Squares.cover(header.side_knowledge.area, 100)
    looked_at = (
        squares.xy_m if places_m is None else torch.from_numpy(np.atleast_2d(places_m))[None]
    )
    return RowStatistics.of(header, layers, standardise(header, looked_at))


def first_outputs(header, layers, xy_m):
    matrix, bias, *_ = (block[0].numpy() for block in layers.before)
    x = header.side_knowledge.scaler.finely(np.atleast_2d(xy_m))
    return np.maximum(x @ matrix.T + bias, 0)


def correlation(one, other):
    return float((one * other).sum() / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_the_covariance_of_rows_is_that_of_the_activations_at_the_place(share):
    """C = ρ (φφᵀ + κ diag(h²)) with κ = p/(1−p): κ shows on the diagonal alone."""
    header = make_header(replace(NETWORK, dropout=(share, 0.05)), FEDSGD)
    # Residuals so large that the rounding of float32 does not show.
    labels = np.random.default_rng(0).normal(0, 500, 2000)
    layers = layers_of(header, observe(header, make_data(np.tile(PLACE_M, (2000, 1)), labels)))
    statistics = statistics_of(header, layers, PLACE_M)
    seen = statistics.covariance[0].numpy()
    h = first_outputs(header, layers, PLACE_M)[0]
    phi = np.append(h, 1.0)[statistics.live.numpy()]
    on = phi > 0.1 * phi.max()
    pairs = np.outer(phi, phi)[np.ix_(on, on)]
    off_diagonal = ~np.eye(on.sum(), dtype=bool)
    seen = seen[np.ix_(on, on)]
    assert correlation(seen[off_diagonal], pairs[off_diagonal]) > 0.99
    rho = (seen * pairs)[off_diagonal].sum() / (pairs**2)[off_diagonal].sum()
    units = on[:-1].sum()
    kappa = np.median(np.diag(seen)[:units] / (rho * np.diag(pairs)[:units])) - 1
    assert kappa == pytest.approx(share / (1 - share), abs=0.35 * share / (1 - share))


def test_two_places_add_up_by_their_squared_residuals():
    """ρ ∝ n r²: 200 points with twice the residual weigh like 800."""
    header = make_header(replace(NETWORK, hidden=(40, 1000)), FEDSGD)
    places_m = inside([[0.2, 0.3], [0.8, 0.7]])
    data = make_data(
        np.repeat(places_m, [200, 400], axis=0), np.repeat([-100.0, -50.0], [200, 400])
    )
    layers = layers_of(header, observe(header, data))
    statistics = statistics_of(header, layers)
    h = first_outputs(header, layers, places_m)
    live = statistics.live.numpy()
    phis = np.pad(h, ((0, 0), (0, 1)), constant_values=1.0)[:, live]
    kappa = 0.05 / 0.95
    parts = [np.outer(phi, phi) + kappa * np.diag(np.append(phi[:-1], 0) ** 2) for phi in phis]
    design = np.stack([part.ravel() for part in parts], 1)
    (first, second), *_ = np.linalg.lstsq(design, statistics.covariance[0].numpy().ravel())
    assert first / second == pytest.approx(2.0, rel=0.25)


def test_without_dropout_and_scatter_of_labels_no_noise_is_left():
    data = make_data(np.tile(PLACE_M, (400, 1)))
    left = []
    for dropout in ((0.0, 0.0), (0.05, 0.05)):
        header = make_header(replace(NETWORK, dropout=dropout), FEDSGD)
        statistics = statistics_of(header, layers_of(header, observe(header, data)))
        left.append(float(statistics.noise[0]))
    assert left[0] < 1e-5
    assert left[1] > 10 * left[0]


def test_units_that_no_point_turned_on_are_silent():
    header = make_header(NETWORK)
    data = around([0.3, 0.6], 30, spread_m=20.0)
    layers = layers_of(header, observe(header, data))
    on = (first_outputs(header, layers, data.xy_m) > 0).any(0)
    np.testing.assert_array_equal(layers.silent[0].numpy(), ~on)
    assert 0 < on.sum() < len(on)


def test_rows_of_several_updates_are_those_of_each():
    header = make_header(NETWORK)
    seen = [
        observe(header, around(place, 60, seed=i), t=i)
        for i, place in enumerate(((0.2, 0.3), (0.7, 0.7)))
    ]
    together = statistics_of(header, layers_of(header, *seen))
    for i, one in enumerate(seen):
        alone = statistics_of(header, layers_of(header, one))
        at = torch.searchsorted(together.live, alone.live)
        np.testing.assert_allclose(
            together.covariance[i][at][:, at], alone.covariance[0], rtol=1e-6, atol=1e-18
        )
