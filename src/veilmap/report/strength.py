"""How strong a defence was, in the paper's symbols and short enough to stand beside a mark."""

from collections.abc import Sequence

from veilmap.report.looks import scheme_and_steps

_SYMBOLS = {
    "eps_m": "eps {} m",
    "num": "num {}",
    "epsilon": "ε {}",
    "epsilon_per_m": "ε {}/m",
    "rho": "ρ {}",
    "learning_rate": "η {}",
    "batch_size": "B {}",
    "epochs": "E {}",
}

Settings = dict[tuple[int, str], str]  # by the place of the step, from 1, and the name


def strengths(configurations: Sequence[str]) -> list[str]:
    """Of configurations of one family: those settings in which they differ.

    A member that stands alone shows all settings of its steps.
    """
    settings = [_settings(each) for each in configurations]
    names = list(dict.fromkeys(name for each in settings for name in each))
    telling = [
        name
        for name in names
        if len({each.get(name) for each in settings}) > 1 or (len(settings) == 1 and name[0] > 0)
    ]
    return [_text({name: each[name] for name in telling if name in each}) for each in settings]


def _settings(configuration: str) -> Settings:
    scheme, steps = scheme_and_steps(configuration)
    return {
        (place, name): value
        for place, step in enumerate([*scheme, *steps], 1 - len(scheme))
        for name, _, value in (part.partition("=") for part in step.partition(":")[2].split(","))
        if value
    }


def _text(settings: Settings) -> str:
    return ", ".join(
        _SYMBOLS.get(name, name + " {}").format(value) for (_, name), value in settings.items()
    )
