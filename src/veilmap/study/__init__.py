"""Whole runs: from measurements and settings to a trained map, its transcript and its results."""
