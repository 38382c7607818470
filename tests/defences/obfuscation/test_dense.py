import numpy as np
import torch

from veilmap.defences.obfuscation.dense import Dense, DenseAdam


def drawn(seed=0, **settings):
    return Dense.drawn((2, 3, 4, 1), np.random.default_rng(seed), **settings)


def test_a_network_by_hand():
    """W = 2, b = 0 twice: relu(2·3)·2 = 12, and of −3 comes 0."""
    network = Dense.drawn((1, 1, 1), np.random.default_rng(0))
    network.weights.copy_(torch.tensor([2.0, 0.0, 2.0, 0.0]))
    assert network(torch.tensor([[3.0], [-3.0]])).tolist() == [[12.0], [0.0]]


def test_weights_are_of_glorots_size_and_biases_zero():
    network = Dense.drawn((100, 200, 1), np.random.default_rng(0))
    (matrix, bias), _ = network.layers
    limit = np.sqrt(6 / 300)
    assert limit * 0.99 < float(matrix.detach().abs().max()) <= limit
    assert not bias.any()
    assert len(network.weights) == 200 * 101 + 201


def test_only_the_last_layer_is_scaled():
    plain, small = drawn(), drawn(last=0.1)
    for a, b, factor in zip(plain.layers, small.layers, (1, 1, 0.1), strict=True):
        torch.testing.assert_close(a[0] * factor, b[0])


def test_adam_goes_half_its_way_where_the_gradient_is_as_small_as_its_least():
    """1e-8 / (1e-8 + 1e-8) of the rate 1e-3."""
    network = Dense.drawn((1, 1), np.random.default_rng(0))
    before = network.weights.clone()
    DenseAdam(network).descend(1e-8 * sum(part.sum() for part in network.parts))
    np.testing.assert_allclose(network.weights - before, [-5e-4] * 2, rtol=1e-3)


def test_adam_is_the_published_formula():
    network, x = drawn(), torch.tensor([[0.3, -0.7], [1.1, 0.4]])
    adam = DenseAdam(network)
    expected, mean, square = network.weights.numpy().astype(float), 0.0, 0.0
    for t in range(1, 6):
        loss = (network(x) ** 2).mean() + network(x).mean()
        parts = torch.autograd.grad(loss, network.parts, retain_graph=True)
        g = np.concatenate([part.numpy().ravel() for part in parts])
        mean, square = 0.5 * mean + 0.5 * g, 0.999 * square + 0.001 * g**2
        root = np.sqrt(square / (1 - 0.999**t)) + 1e-8
        expected = expected - 1e-3 * mean / (1 - 0.5**t) / root
        adam.descend(loss)
        np.testing.assert_allclose(network.weights.numpy(), expected, atol=1e-6)
