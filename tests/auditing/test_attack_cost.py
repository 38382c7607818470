from dataclasses import dataclass

import pytest

from tests.auditing.making import TINY, make_data
from veilmap.auditing.attack_cost import COST_OF_OTHERS_MS, COSTS_MS, cost_per_round_ms
from veilmap.auditing.panel import panel
from veilmap.auditing.settings import AuditSettings
from veilmap.study.prepare import prepare


@dataclass(frozen=True)
class Foreign:
    """An attack of another package, which reads everything."""

    name = "foreign"
    oracle = False

    def reads(self, header):
        return True

    def attack(self, given):
        return []


def cost_ms(**given):
    settings = AuditSettings.of(**{**TINY, **given})
    runs = panel(settings)
    return cost_per_round_ms(settings, runs, prepare(make_data(), runs["fedavg"]).header)


def test_every_configuration_seed_and_attack_costs():
    """Two configurations with two seeds, and 15 + 1 ms for each of their updates."""
    assert cost_ms() == 2 * 2 * 16
    assert cost_ms(seeds=5, configurations=("fedavg",)) == 5 * 16


def test_an_attack_costs_nothing_where_it_cannot_read_the_map():
    both = ("fedavg", "kriging")
    assert cost_ms(method=("squares", "search"), configurations=both) == 2 * (
        COSTS_MS["search"] + COSTS_MS["squares"]
    )


@pytest.mark.parametrize("method", [Foreign(), ("search", Foreign())])
def test_an_attack_that_nobody_measured_is_dear(method):
    own = COSTS_MS["search"] if isinstance(method, tuple) else 0.0
    assert cost_ms(method=method, configurations=("fedavg",)) == 2 * (own + COST_OF_OTHERS_MS)
