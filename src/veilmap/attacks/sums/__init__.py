"""Attacks on messages of the kriging map: sums over public squares, of one phone or of many."""
