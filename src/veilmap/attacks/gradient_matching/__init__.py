"""Attacks that look for the point whose gradient is the leaked one (Algorithm 2)."""
