"""Scores every candidate square by its features: boosted trees that learn where home is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.sums.history import Floats
from veilmap.shadows.examples import Example
from veilmap.shadows.features import Features, measured
from veilmap.shadows.home_map import HomeMap
from veilmap.streams import stream

# A candidate counts as home within this distance, or if it is the nearest of all.
IS_HOME_M = 20.0
# Candidates of one person to learn from: those that stand out in a feature, and any others.
STANDING_OUT, ANY = 80.0, 100.0
# Where the shadows live, as a density of this width.
HOMES_WIDTH_M = 60.0
ANYWHERE = 1e-4


@dataclass(frozen=True)
class HomeModel:
    """What was learned.

    Attributes:
        features: that measure candidates.
        candidates_m: the squares' centres.
        homes_m: of the people learned from, if where people live is a feature; else None.
        classifier: of scikit-learn.
        sharpness: γ of the maps.
    """

    features: tuple[Features, ...]
    candidates_m: Floats = field(repr=False)
    homes_m: Floats | None = field(repr=False)
    classifier: Any = field(repr=False)
    sharpness: float = 1.0

    def chances(self, given: AttackInput, leave_out: Sequence[int] = ()) -> Floats:
        """Of each candidate to be home; ``leave_out`` people do not count as neighbours."""
        values = _values(self.features, given, self.candidates_m, self.homes_m, leave_out)
        found: Floats = self.classifier.predict_proba(values)[:, 1]
        return found

    def map_of(self, given: AttackInput) -> HomeMap:
        """The map of home of the user who sent these messages."""
        return HomeMap.of(self.candidates_m, self.chances(given), self.sharpness)


def fitted(
    features: Sequence[Features],
    candidates_m: Floats,
    homes_m: Floats | None,
    examples: Sequence[Example],
    seed: int,
    on_done: Callable[[int], None],
) -> HomeModel:
    """Learn from examples; ``homes_m`` are those of all people, by their numbers, or None.

    ``on_done`` is called with the number of people whose candidates were measured.

    Most candidates of a person are far from home and alike. They are drawn with a chance that grows
    with how much they stand out in a feature, Σ |z|³, and weigh its inverse, so that the classifier
    still estimates the chance of each.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows, labels, weights = [], [], []
    for example in examples:
        values = _values(features, example.given, candidates_m, homes_m, example.people)
        for person, home_m in zip(example.people, example.homes_m, strict=True):
            draw = stream(seed, "learned", "candidates", person)
            is_home = _is_home(candidates_m, home_m)
            chance = np.where(is_home, 1.0, _sampling(values))
            chosen = draw.random(len(chance)) < chance
            rows.append(values[chosen])
            labels.append(is_home[chosen])
            weights.append(1 / chance[chosen])
        on_done(len(example.people))
    classifier = HistGradientBoostingClassifier(
        max_iter=200,
        learning_rate=0.06,
        max_leaf_nodes=15,
        min_samples_leaf=60,
        l2_regularization=5.0,
        early_stopping=False,
        random_state=0,
    )
    classifier.fit(
        np.concatenate(rows), np.concatenate(labels), sample_weight=np.concatenate(weights)
    )
    return HomeModel(tuple(features), candidates_m, homes_m, classifier)


def _values(
    features: Sequence[Features],
    given: AttackInput,
    candidates_m: Floats,
    homes_m: Floats | None,
    leave_out: Sequence[int],
) -> NDArray[np.float32]:
    values = measured(features, given, candidates_m)
    if homes_m is None:
        return values
    others_m = np.delete(homes_m, list(leave_out), axis=0) if len(leave_out) == 1 else homes_m
    near = np.exp(-cdist(candidates_m, others_m, "sqeuclidean") / (2 * HOMES_WIDTH_M**2))
    lived = np.log(near.mean(axis=1) + ANYWHERE)
    both: NDArray[np.float32] = np.column_stack([values, lived]).astype(np.float32)
    return both


def _is_home(candidates_m: Floats, home_m: Floats) -> NDArray[np.bool_]:
    away_m = np.hypot(*(candidates_m - home_m).T)
    found: NDArray[np.bool_] = (away_m <= IS_HOME_M) | (away_m == away_m.min())
    return found


def _sampling(values: NDArray[np.float32]) -> Floats:
    known = np.nan_to_num(values.astype(np.float64))
    spread = known.std(axis=0)
    standard = (known - known.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    out = (np.abs(standard) ** 3).sum(axis=1) + 1e-9
    chance: Floats = np.minimum(STANDING_OUT * out / out.sum() + ANY / len(out), 1.0)
    return chance
