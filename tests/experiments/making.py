"""Small trials."""

from tests.sweeping.making import QUICK, TINY
from veilmap.area import Area
from veilmap.experiments.run_trial import run_trial
from veilmap.experiments.trial import Trial
from veilmap.measurements import Measurements
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.settings import RunSettings


def make_trial(data: Measurements, configuration="fedsgd", seed=0, **changes) -> Trial:
    """On all of the data, of whose users the densest is attacked."""
    settings = configure(RunSettings.of(**TINY, seed=seed), configuration)
    return Trial(
        **{
            "configuration": settings.configuration,
            "settings": settings,
            "targets": (data.users[0],),
            "attacks": AttackSettings.of(**QUICK, seed=seed),
            "area": Area.around(data.xy_m),
            **changes,
        }
    )


def run(trial: Trial, data: Measurements):
    return run_trial(trial, {"": data})
