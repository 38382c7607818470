"""The network as data: its description, its flat weights, prediction, gradient, local training."""
