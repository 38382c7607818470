from importlib.resources import files
from pathlib import Path

import pytest

from veilmap.reproduction.labels import paper_specs
from veilmap.sweeping.grid import planned
from veilmap.sweeping.rules.trends import Least
from veilmap.sweeping.selection import SweepRow, chosen
from veilmap.sweeping.sweep import Sweep

# Every table and figure of the paper, and one paragraph with numbers of its own.
LABELS = [
    "tab:dbscan_stats_online_1W",
    "tab:radiocells",
    "fig:density_maps_uci",
    "fig:example_local_data_per_round",
    "fig:example_DLG_attack_1_week_batch",
    "fig:EMD_random_examples",
    "fig:dlg_iters_cell204_strongest_attack_points",
    "fig:fed_sgd_initializations_one_round",
    "fig:fed_sgd_initializations_multiple_rounds",
    "fig:init_comparison_strongest_attack_1e_05",
    "fig:minibatch_comparison",
    "fig:sgd_local_epochs_comparison",
    "fig:batch_manipulation_comparison_1w",
    "fig:all_comparison_1week",
    "fig:DBSCAN_Comparison_1day_SGD",
    "fig:DBSCAN_Comparison_1day_Avg",
    "fig:All_Comparison_1day_dp",
    "fig:radio_cell_x455_user_stats",
    "fig:uci_stats_top_cells",
    "fig:dlg_iters_cell355_strongest_attack_points",
    "fig:radio_cell_x455_target_3",
    "fig:datapoints_per_batch_per_interval_x455_radiocells",
    "fig:radio_cell_x455_heatmap",
    "fig:cumulativeFL",
    "fig:catastrophic_forgetting",
    "fig:eta_tuning_1_week",
    "fig:uci_std_vs_eps",
    "fig:1week_batch_manip_etas_vs_1e_05",
    "label-start",
    "fig:appendix_Comparison_all_1day_sgd",
    "fig:appendix_Comparison_all_1day_Avg",
    "fig:appendix_Comparison_all_1week_SGD",
    "fig:appendix_Comparison_all_1week_Avg",
    "fig:dpanalysis",
]
PAPER = Path(str(files("veilmap.reproduction") / "paper"))
SPECS = paper_specs()


@pytest.fixture(scope="module")
def plans():
    """The runs of every spec on the simulated worlds, by its label."""
    sweep = Sweep(SPECS, seeds=(0,))
    return {
        spec.label: [
            plan for runs in spec.runs for plan in planned(runs, sweep.cohort(spec), seeds=(0,))
        ]
        for spec in SPECS
    }


def wheres_of(rule):
    """Every part of the figures that a rule speaks of."""
    single = ("where", "high", "low", "ours", "others")
    return [where for name in single if (where := getattr(rule, name, None))] + list(
        getattr(rule, "order", ())
    )


def of_runs(where):
    """Without the key that only the rows of a round have."""
    return {key: value for key, value in where.items() if key != "round"}


def rows_of(plans, spec):
    return [SweepRow(plan.keys) for plan in plans[spec.label]]


def test_every_label_of_the_paper_has_one_spec():
    assert sorted(spec.label for spec in SPECS) == sorted(LABELS)


def test_a_file_is_named_after_its_label():
    names = {path.stem for path in PAPER.glob("*.toml")} - {"common"}
    assert names == {label.replace(":", "-") for label in LABELS}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.label)
def test_every_run_can_be_planned_on_the_simulated_worlds(plans, spec):
    assert plans[spec.label]
    assert [plan.why_not for plan in plans[spec.label] if plan.trial is None] == []


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.label)
def test_every_claim_and_picture_speaks_of_runs_that_there_are(plans, spec):
    rows = rows_of(plans, spec)
    wheres = [of_runs(where) for claim in spec.claims for where in wheres_of(claim.rule)]
    for picture in spec.pictures:
        wheres += [getattr(picture, "where", {}), *getattr(picture, "panels", ())]
    assert [where for where in wheres if not chosen(rows, where)] == []
    listed = [each for where in wheres for each in where.items() if isinstance(each[1], list)]
    assert [
        (key, value) for key, values in listed for value in values if not chosen(rows, {key: value})
    ] == []


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.label)
def test_a_claim_goes_along_a_key_of_its_runs(plans, spec):
    for claim in spec.claims:
        rule = claim.rule
        if not hasattr(rule, "along") or claim.table != "runs":
            continue
        values = [row.value(rule.along) for row in chosen(rows_of(plans, spec), rule.where)]
        assert len(set(values)) > 1, claim.says
        assert not isinstance(rule, Least) or rule.at in values


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.label)
def test_published_numbers_stand_under_keys_of_runs(plans, spec):
    rows = rows_of(plans, spec)
    names = set().union(*(row.keys for row in rows))
    for number in spec.numbers:
        assert chosen(rows, {name: number[name] for name in names & set(number)}), number


def test_the_published_numbers_bear_the_claims_or_a_note_says_that_they_do_not():
    """A bound that the paper gives only as a bound is met exactly."""
    effects = {
        (spec.label, claim.says): claim.rule.effect([SweepRow(published) for published in spec.numbers])
        for spec in SPECS
        for claim in spec.claims
        if not claim.note
    }
    assert [which for which, effect in effects.items() if effect is not None and effect < 0] == []
    assert sum(effect is not None for effect in effects.values()) > 30


def test_only_the_maps_of_the_data_claim_nothing():
    silent = {spec.label for spec in SPECS if not spec.claims}
    assert silent == {"fig:density_maps_uci", "fig:radio_cell_x455_user_stats"}


def test_every_spec_draws_something():
    assert [spec.label for spec in SPECS if not spec.pictures] == []
