"""A simulated London: upload files of strangers over one region, with known owners.

It stands for the London 2017 part of Radiocells that the paper used, which is no longer to be had.
``world`` says which published facts it matches and how the numbers follow from them.
"""

from veilmap.sources.london.uploads import simulate, uploads
from veilmap.sources.london.world import TIMEZONE, Habit, London

__all__ = ["TIMEZONE", "Habit", "London", "simulate", "uploads"]
