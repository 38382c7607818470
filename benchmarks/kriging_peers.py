"""Other packages' kriging with the same kernel: what each is asked for, in its own words.

All give the mean and the standard deviation of the signal at the places of a problem. Packages
without a constant to estimate get ours; theirs lacks its part of the standard deviation.
"""

from dataclasses import dataclass

import numpy as np

from veilmap.kriging.kernel import Kernel


@dataclass(frozen=True)
class Problem:
    """One value at each place, to be kriged back to the same places."""

    kernel: Kernel
    xy_m: np.ndarray
    values_db: np.ndarray
    constant_db: float


def sklearn(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern

    short, long = (
        ConstantKernel(db**2) * Matern(length_m, nu=0.5) for db, length_m in _scales(problem)
    )
    noise = np.full(len(problem.xy_m), problem.kernel.noise_db**2)
    fitted = GaussianProcessRegressor(short + long, alpha=noise, optimizer=None)
    fitted.fit(problem.xy_m, problem.values_db - problem.constant_db)
    mean_db, std_db = fitted.predict(problem.xy_m, return_std=True)
    return mean_db + problem.constant_db, std_db


def gstools(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    import gstools as package

    parts = [
        package.Exponential(dim=2, var=db**2, len_scale=length_m)
        for db, length_m in _scales(problem)
    ]
    noise = np.full(len(problem.xy_m), problem.kernel.noise_db**2)
    ordinary = package.krige.Ordinary(
        package.covmodel.SumModel(*parts), problem.xy_m.T, problem.values_db,
        cond_err=noise, pseudo_inv=False,
    )  # fmt: skip
    mean_db, variance = ordinary(problem.xy_m.T)
    return mean_db, np.sqrt(variance)


def pykrige(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    from pykrige.ok import OrdinaryKriging

    kernel = problem.kernel

    def variogram(_, distance_m):
        return kernel.std_db**2 + kernel.noise_db**2 - kernel.covariance(distance_m)

    fitted = OrdinaryKriging(
        *problem.xy_m.T, problem.values_db, variogram_model="custom", variogram_parameters=[],
        variogram_function=variogram, exact_values=False,
    )  # fmt: skip
    mean_db, variance = fitted.execute("points", *problem.xy_m.T)
    return mean_db.data, np.sqrt(variance.data - kernel.noise_db**2)


def gpytorch(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    import gpytorch as package
    import torch

    matern = package.kernels.MaternKernel
    scaled = [package.kernels.ScaleKernel(matern(nu=0.5)).double() for _ in range(2)]
    for part, (db, length_m) in zip(scaled, _scales(problem), strict=True):
        part.outputscale, part.base_kernel.lengthscale = db**2, length_m

    class Model(package.models.ExactGP):
        def __init__(self, *given):
            super().__init__(*given)
            self.mean_module = package.means.ZeroMean()
            self.covar_module = scaled[0] + scaled[1]

        def forward(self, x):
            return package.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    x, y = (torch.tensor(each) for each in (problem.xy_m, problem.values_db - problem.constant_db))
    noise = torch.full_like(y, problem.kernel.noise_db**2)
    likelihood = package.likelihoods.FixedNoiseGaussianLikelihood(noise)
    model = Model(x, y, likelihood).eval()
    with torch.no_grad(), package.settings.fast_computations(False, False, False):
        found = model(x)
        return found.mean.numpy() + problem.constant_db, found.variance.sqrt().numpy()


def _scales(problem: Problem) -> tuple[tuple[float, float], tuple[float, float]]:
    kernel = problem.kernel
    return (kernel.short_db, kernel.short_m), (kernel.long_db, kernel.long_m)


# The module that must be there, and how it is asked.
PEERS = {
    "scikit-learn": ("sklearn", sklearn),
    "GPyTorch": ("gpytorch", gpytorch),
    "PyKrige": ("pykrige", pykrige),
    "GSTools": ("gstools", gstools),
}
