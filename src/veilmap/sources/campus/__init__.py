"""A simulated campus: people, their days and streets, their phones, and the cells around them.

``world`` has the parameters, ``people`` and ``streets`` say who is where when, ``phones`` what is
logged of it, ``radio`` and ``shadowing`` how strong the signal is. docs/campus.md compares the
result with the published facts, one by one.
"""

from veilmap.sources.campus.simulation import simulate
from veilmap.sources.campus.world import Campus

__all__ = ["Campus", "simulate"]
