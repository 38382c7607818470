"""Figures of a trained map, as tests need them."""

from veilmap.metrics.rows import MapFigures


def map_figures(rmse_db, constant_db=6.0):
    """By place as per row; central kriging has half of the constant's squared error."""
    skill = 1 - rmse_db**2 / constant_db**2
    return MapFigures(rmse_db, constant_db, rmse_db, skill, skill / 0.5, None)
