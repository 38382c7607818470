"""A generator and an adversary in a game: what the GAN defence is made of."""
