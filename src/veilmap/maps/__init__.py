"""Kinds of signal maps: the paper's network, any torch module, and those of other packages."""
