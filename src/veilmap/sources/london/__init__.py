"""A simulated London: upload files of strangers over one region, with known owners.

It stands in for the London 2017 part of Radiocells that the paper used, which is no longer
available. ``world`` lists the published facts that it matches and derives the numbers from them.
"""

from veilmap.sources.london.uploads import simulate, uploads
from veilmap.sources.london.world import TIMEZONE, Habit, London

__all__ = ["TIMEZONE", "Habit", "London", "simulate", "uploads"]
