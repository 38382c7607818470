"""Kinds of claims: what the figures of one seed must be like."""
