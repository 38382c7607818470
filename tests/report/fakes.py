"""Made-up attacks and truths: no real position is in here."""

import numpy as np
from matplotlib.text import Text

from veilmap.area import Area
from veilmap.attacks.reconstruction import Cloud, Outcome, Reconstruction
from veilmap.local_data import LocalData

CORNER_M = np.array([500_000.0, 4_000_000.0])
AREA = Area(500_000.0, 4_000_000.0, 502_000.0, 4_001_000.0)
NOWHERE = (np.nan, np.nan)


def found(number, xy_m, cloud=None, path_m=None, cosine=0.9, user="u"):
    """A location, and a path, in metres from the area's corner; in the cloud they are absolute."""
    xy_m = CORNER_M + xy_m
    return Reconstruction(
        number, user, 0.0, 10, xy_m, cosine, 7, 0.1, Outcome.CONVERGED, cloud or Cloud.at(xy_m),
        path_m=None if path_m is None else CORNER_M + path_m,
    )  # fmt: skip


def points(*xy_m):
    """Measurements at places in metres from the area's corner."""
    count = len(xy_m)
    places_m = CORNER_M + np.array(xy_m, float).reshape(count, 2)
    return LocalData(places_m, np.full(count, -96.0), np.arange(count, dtype=float))


def grid_cloud(side_m=40.0, count=5):
    """Equal weights on a square grid whose first place is 300 m from the corner along each axis."""
    steps = 300 + side_m * np.arange(count)
    xy_m = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    return Cloud(CORNER_M + xy_m, np.full(len(xy_m), 1 / len(xy_m)))


def titles(figure):
    return [axes.get_title() for axes in figure.axes if axes.get_title()]


def drawn_as_written(figure, name):
    """Some text of the figure holds ``name`` letter by letter, with no formula made of it."""
    shown = [text._preprocess_math(text.get_text()) for text in figure.findobj(Text)]
    return any(name in text and not formula for text, formula in shown)
