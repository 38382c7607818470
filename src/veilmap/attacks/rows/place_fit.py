"""The shares of given places that explain the rows of some updates."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.attacks.rows.covariance_fit import Fit, likelihood, scored, warm_up
from veilmap.attacks.rows.covariance_model import Activations, Parts, Target
from veilmap.attacks.rows.residuals import count_by_residuals
from veilmap.attacks.rows.row_statistics import RowStatistics
from veilmap.attacks.rows.rows import Rows
from veilmap.attacks.rows.updated_layers import UpdatedLayers, standardise
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header

# ψ of a column of unit variance, to begin with.
_NOISE = 1e-2


@dataclass(frozen=True)
class Explained:
    """Where the rows of an update place the user, and the cosine of S and C."""

    cloud: Cloud
    cosine: float


def reconstruction(
    observation: Observation, found: Explained | None, seconds: float
) -> Reconstruction:
    """Of an update; None where nothing explains its rows."""
    if found is None:
        return Reconstruction.nothing(observation)
    cloud = found.cloud
    return Reconstruction.of(
        observation, cloud.mean_m, cosine=found.cosine, seconds=seconds, cloud=cloud
    )


@dataclass(frozen=True)
class Candidates:
    """Places where the user may have been, as many for each update.

    Attributes:
        xy_m: (updates, candidates, 2).
        real: those that do not only pad, (updates, candidates).
        shares: of all parts to begin with: candidates, directions, columns.
        times: of the weights before and after.
    """

    xy_m: Tensor
    real: Tensor
    shares: Tensor
    times: Tensor

    def mass(self, fit: Fit) -> Tensor:
        """The candidates' shares of the mass, (updates, candidates)."""
        shares = fit.shares[:, : self.xy_m.shape[1]] * self.real
        return shares / shares.sum(1, keepdim=True).clamp(min=1e-300)


@dataclass(frozen=True)
class PlaceFit:
    """Some updates and their rows; with or without directions and columns that explain rows too."""

    rows: Rows
    header: Header
    layers: UpdatedLayers
    statistics: RowStatistics
    places_only: bool = False

    @property
    def target(self) -> Target:
        """The covariance over all rows."""
        return Target.of(self.statistics, self.statistics.covariance)

    def begin(self, xy_m: Tensor, real: Tensor, weights: Tensor) -> Candidates:
        """Places that explain parts of the rows in proportion to ``weights``."""
        target = Target.of(self.statistics, self.statistics.half(0))
        times = target.scale.new_full((len(target.scale), 2), 0.5)
        others = torch.cat(
            [torch.ones_like(target.directions[..., 0]), torch.full_like(target.scale, _NOISE)], 1
        )
        begun = Candidates(xy_m, real, others, times)
        energy = self._activations(begun, target).values.square().sum((1, 3)) / 2
        least = 1e-2 * torch.where(real, energy, torch.nan).nanmedian(1, keepdim=True).values
        trace = target.covariance.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
        parts = real * trace * weights / weights.sum(1, keepdim=True)
        shares = parts / torch.maximum(energy, least)
        return replace(begun, shares=torch.cat([shares, others], 1))

    def judged(self, first: Candidates) -> tuple[Fit, Tensor]:
        """The shares as half of the rows has them, and whether columns have noise ψ.

        The other half decides: a model with more parts always explains the rows better that it is
        fitted to. ψ is there for some updates and not for others, (updates, 1).
        """
        fitted = Target.of(self.statistics, self.statistics.half(0))
        unseen = replace(fitted, covariance=fitted.scaled(self.statistics.half(1)))
        fits, scores = list[Fit](), list[Tensor]()
        never = first.times.new_zeros(len(first.times), 1)
        for has_noise in (never,) if self.places_only else (never, never + 1):
            parts = self.parts(first, fitted, first.times, has_noise)
            warm = replace(first, shares=warm_up(parts, fitted, first.shares))
            fits.append(self.fit(warm, fitted, has_noise, 1))
            parts = self.parts(first, fitted, fits[-1].times, has_noise)
            scores.append(likelihood(parts, unseen, fits[-1].shares))
        best = torch.stack(scores).argmin(0)
        chosen = torch.stack([fit.shares for fit in fits])[best, torch.arange(len(best))]
        return Fit(chosen, first.times), best.double()[:, None]

    def fit(
        self,
        candidates: Candidates,
        target: Target,
        has_noise: Tensor,
        steps: int,
        price: Tensor | float = 0.0,
    ) -> Fit:
        """The shares of the candidates and of the other parts, after some steps of scoring."""
        fit = Fit(candidates.shares, candidates.times)
        for _ in range(steps):
            parts = self.parts(candidates, target, fit.times, has_noise)
            fit = scored(parts, target, fit, price)
        return fit

    def parts(
        self, candidates: Candidates, target: Target, times: Tensor, has_noise: Tensor
    ) -> Parts:
        """What the covariance is a sum of."""
        directions = target.directions * (0.0 if self.places_only else 1.0)
        return self._activations(candidates, target).parts(directions, times, has_noise)

    def read(
        self, candidates: Candidates, target: Target, has_noise: Tensor, fit: Fit
    ) -> list[Explained | None]:
        """What the shares say of every update; None where no place explains anything."""
        parts = self.parts(candidates, target, fit.times, has_noise)
        known = (target.scale > 0).double()
        whole = parts.covariance(fit.shares, target.floor) * known[:, None] * known[..., None]
        cosines = torch.cosine_similarity(target.covariance.flatten(1), whole.flatten(1))
        x = standardise(self.header, candidates.xy_m)
        mass = candidates.mass(fit)
        counted = count_by_residuals(self.header, self.layers, x, mass, self.rows.scatter_db)
        found = list[Explained | None]()
        places = (values.cpu().numpy() for values in (candidates.xy_m, counted))
        for xy_m, shares, cosine in zip(*places, cosines.tolist(), strict=True):
            some = shares > 0
            cloud = Cloud(xy_m[some], shares[some])
            found.append(Explained(cloud, cosine) if some.any() else None)
        return found

    def _activations(self, candidates: Candidates, target: Target) -> Activations:
        x = standardise(self.header, candidates.xy_m)
        network, live = self.header.network, self.statistics.live
        return Activations.of(network, self.layers, live, target.scale, x).padded(candidates.real)
