"""Kriging: a signal everywhere, with its uncertainty, from the means of some places."""
