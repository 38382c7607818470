"""A simulated campus: people, their days and streets, their phones, and the cells around them.

``world`` has the parameters; ``people`` and ``streets`` say who is where when; ``logger`` what the
phones write of it; ``radio`` and ``signal`` which cell and how strong. docs/campus.md compares the
result with the published facts, one by one.
"""

from veilmap.sources.campus.simulation import simulate
from veilmap.sources.campus.world import Campus

__all__ = ["Campus", "simulate"]
