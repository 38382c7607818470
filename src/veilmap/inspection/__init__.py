"""What is in a measurement file: its facts, and pictures of it."""

from veilmap.inspection.facts import Inspection, RoundCount, inspect

__all__ = ["Inspection", "RoundCount", "inspect"]
