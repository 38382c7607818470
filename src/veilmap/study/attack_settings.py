"""The settings of an attack."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.attack import Attack, not_positive
from veilmap.attacks.gradient_matching.dlg import Dlg, PrecisionName
from veilmap.attacks.gradient_matching.optimisers import OptimiserName
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.gradient_matching.starts import (
    GridStarts,
    NearCentroid,
    PreviousResult,
    RandomStarts,
    Start,
)
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.methods import METHODS
from veilmap.errors import Checked, UserError, refuse, too_low
from veilmap.settings import NamesMayBeNumbers, group, parse
from veilmap.study.attack_notation import OURS, Methods, method_name, methods_of

StartName = Literal["random", "grid", "previous", "centroid"]


@dataclass(frozen=True)
class DlgSettings(Checked):
    """The options of Algorithm 2.

    Attributes:
        start: starting location: random in the area, a random square's centre in a grid of 350 m,
            the previous round's result (at first the area's middle), or the true centroid plus
            noise (an oracle: no server knows it).
        starts: number of starts per update; the one with the best cosine counts. With start
            previous there is only one.
        start_noise_m: standard deviation of the noise around the true centroid, in metres.
        optimiser: sgd as the algorithm is written, or adam.
        attack_rate: η of the attack; by default 0.02 for adam and 100 for sgd, because the
            gradients are of the order of 1e-3.
        max_iterations: m; the paper's is 400,000.
        still_m: the location rests while it moves less than this per iteration, in metres; ten
            such iterations in a row end the attack.
        circling_m: end the attack when the mean location over 500 iterations is less than this
            from that over the previous 500, in metres; by default it continues.
        label_dbm: the dummy label at the start; by default the public mean, or -95.
        weights: compare gradients at the weights before or after the update.
        precision: double, as in the reference, or single, which is faster.
    """

    start: StartName = "random"
    starts: int = 1
    start_noise_m: float = 100.0
    optimiser: OptimiserName = "adam"
    attack_rate: float | None = None
    max_iterations: int = 20_000
    still_m: float = 0.01
    circling_m: float | None = None
    label_dbm: float | None = None
    weights: Literal["before", "after"] = "before"
    precision: PrecisionName = "double"

    def _faults(self) -> Iterator[UserError]:
        return not_positive(
            starts=self.starts, start_noise_m=self.start_noise_m, attack_rate=self.attack_rate
        )

    def make(
        self, seed: int, centroids_m: Mapping[int, NDArray[np.float64]] | None, keep_path: bool
    ) -> Dlg:
        """The attack; ``centroids_m`` are the true ones by round, where they are known."""
        return Dlg(
            start=self._start(seed, centroids_m),
            optimiser=self.optimiser,
            learning_rate=self.attack_rate,
            max_iterations=self.max_iterations,
            still_m=self.still_m,
            circling_m=self.circling_m,
            label_dbm=self.label_dbm,
            weights=self.weights,
            precision=self.precision,
            keep_path=keep_path,
        )

    def _start(self, seed: int, centroids_m: Mapping[int, NDArray[np.float64]] | None) -> Start:
        if self.start == "centroid" and centroids_m is None:
            raise UserError(
                "start 'centroid' needs to know where the user was; give --data, or choose one of: "
                "random, grid, previous"
            )
        starts: dict[StartName, Start] = {
            "random": RandomStarts(self.starts, seed),
            "grid": GridStarts(count=self.starts, seed=seed),
            "previous": PreviousResult(),
            "centroid": NearCentroid(centroids_m or {}, self.start_noise_m, self.starts, seed),
        }
        return starts[self.start]


@dataclass(frozen=True)
class Who(NamesMayBeNumbers):
    """Who is attacked, and with which methods.

    Attributes:
        method: the attacks to run: our own by name, others as objects or as text such as
            ``mine:depth=3``; one text may name several, with commas between them.
        target: the user; by default the one with the most points, of those with three rounds.
        secure_aggregation: the server sees only the weighted sum of each round. Its figures are
            about all users together; with a target about that user, in the rounds in which the
            user sends.
        every: attack every Nth round of the user, from the first; by default all.
        seed: seed of the random starts and baseline.
    """

    method: Methods = METHODS
    target: str | None = None
    secure_aggregation: bool = False
    every: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", methods_of(self.method))
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        yield from too_low(1, every=self.every)
        yield from too_low(0, seed=self.seed)


@dataclass(frozen=True)
class AttackSettings:
    """The settings of one attack run; each part is a group of options."""

    who: Who = field(default_factory=Who)
    dlg: DlgSettings = field(default_factory=DlgSettings)
    search: Search = field(default_factory=Search)
    heatmap: Heatmap = field(default_factory=Heatmap)

    @classmethod
    def of(cls, **keywords: Any) -> "AttackSettings":
        """From flat keywords: ``AttackSettings.of(method="search,heatmap", inside=True)``."""
        return parse(cls, group(cls, keywords, "settings"), "settings")

    def make(
        self, centroids_m: Mapping[int, NDArray[np.float64]] | None, keep_path: bool
    ) -> dict[str, Attack]:
        """The attacks in the order given, by the names that results call them by."""
        with_options: dict[str, Callable[[], Attack]] = {
            "dlg": lambda: self.dlg.make(self.who.seed, centroids_m, keep_path),
            "search": lambda: self.search,
            "heatmap": lambda: self.heatmap,
        }
        makers: dict[str, Callable[[], Attack]] = {**OURS, **with_options}
        return {
            method_name(each): makers[each]() if isinstance(each, str) else each
            for each in self.who.method
        }
