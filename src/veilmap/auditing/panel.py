"""The configurations that an audit compares."""

from collections.abc import Sequence
from contextlib import suppress

from veilmap.auditing.base import AuditTraining
from veilmap.auditing.settings import AuditSettings
from veilmap.defences.step import JOINED_BY
from veilmap.errors import UserError, refuse, shown
from veilmap.federation.side_knowledge import configuration_name, scheme_text
from veilmap.notation import split_steps
from veilmap.study.configuration import Configuration, configuration_text, configure
from veilmap.study.settings import RunSettings

# One strength of each defence, and two combinations with more points of the farthest places: 20
# points of a week are too few to learn from (docs/defences-measured.md).
DEFENCES = (
    "centre",
    "diverse:eps_m=50",
    "farthest:eps_m=50,num=20",
    "dp:epsilon=100",
    "geoind:epsilon_per_m=0.01",
    "farthest:eps_m=50,num=200 + centre",
    "farthest:eps_m=50,num=200 + dp:epsilon=100",
)
GAN = "gan:rho=0.5"
# FedSGD takes one step in a round, and so needs a larger one.
FEDSGD = "fedsgd:learning_rate=1e-3"


def panel(settings: AuditSettings) -> dict[str, RunSettings]:
    """The configurations by name, the baseline first; all are checked.

    Raises:
        UserError: some are not known, or the same; all faults at once.
    """
    base, given = settings.run, settings.audit.configurations
    if given and base.protection.defence:
        raise UserError(
            "configurations name their own defences; leave out defence, or add it to each: "
            f"{JOINED_BY.join([configuration_text(given[0]), *base.protection.texts])}"
        )
    if given:
        has_usual_rate = base.training.learning_rate == AuditTraining().learning_rate
        return _own(base, list(map(_with_rate, given)) if has_usual_rate else given)
    usual = [base]
    for text in _usual(base, settings.audit.gan):
        # Not every defence goes with the user's own settings, such as cumulative training.
        with suppress(UserError):
            usual.append(configure(base, text))
    return {name_of(each, base): each for each in usual}


def name_of(run: RunSettings, base: RunSettings) -> str:
    """``fedavg + centre``: what ``configure`` makes of it again, on the same base.

    Unlike the name of a run alone it leaves out what all have in common, such as the rate.
    """
    parts = [*run.protection.texts, *run.task.centre]
    scheme = scheme_text(run.map, run.training, base.training, base.model)
    return configuration_name(scheme, parts, run.protection.defended)


def _with_rate(given: Configuration) -> Configuration:
    """FedSGD without settings of its own learns nothing at the rate that suits FedAvg."""
    if isinstance(given, tuple):
        return tuple(_text_with_rate(each) if isinstance(each, str) else each for each in given)
    return _text_with_rate(given) if isinstance(given, str) else given


def _text_with_rate(text: str) -> str:
    """Also where a map stands before the scheme."""
    return JOINED_BY.join(FEDSGD if part == "fedsgd" else part for part in split_steps(text))


def _usual(base: RunSettings, gan: bool) -> list[str]:
    # The scheme of the settings, also where its B and E are none of the paper's.
    scheme = base.training.as_text(base.training)
    defences = (*DEFENCES, GAN) if gan else DEFENCES
    return [scheme, FEDSGD, *(JOINED_BY.join([scheme, defence]) for defence in defences)]


def _own(base: RunSettings, given: Sequence[Configuration]) -> dict[str, RunSettings]:
    found: dict[str, RunSettings] = {}
    faults = []
    for each in given:
        try:
            run = configure(base, each)
        except UserError as fault:
            faults.append(UserError(f"configuration {shown(each)}: {fault}"))
            continue
        name = name_of(run, base)
        if name in found:
            way_out = "leave one out" if found[name] == run else "give them names of their own"
            faults.append(UserError(f"configuration {shown(name)} is there twice; {way_out}"))
        found[name] = run
    refuse(faults)
    return found
