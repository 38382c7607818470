import pytest

from tests.maps.making import Mean
from tests.study.foreign_steps import First
from tests.sweeping.making import TINY, make_data, make_runs
from veilmap.errors import UserError
from veilmap.experiments.trial import SameRound
from veilmap.sweeping.cohort import Cohort
from veilmap.sweeping.grid import combinations, fill, planned


@pytest.fixture(scope="module")
def cohort():
    """Two users: u0 is the target and u1 is like them; no user is dissimilar."""
    return Cohort.found(make_data(), None)


def plans(cohort, seeds=(0,), **changes):
    return list(planned(make_runs(**changes), cohort, seeds))


def test_every_value_is_combined_with_every_other():
    found = list(combinations({"a": [1, 2], "b": ["x", "y", "z"]}))
    assert len(found) == 6
    assert found[0] == ({"a": 1, "b": "x"}, {"a": 1, "b": "x"})
    assert found[1] == ({"a": 1, "b": "y"}, {"a": 1, "b": "y"})
    assert len({tuple(keys.items()) for keys, _ in found}) == 6


def test_nothing_to_go_over_is_one_run():
    assert list(combinations({})) == [({}, {})]


def test_a_named_value_is_known_by_its_name():
    assert list(combinations({"rate": {"η": "1e-3"}})) == [({"rate": "η"}, {"rate": "1e-3"})]


def test_a_table_of_values_stands_for_all_of_them():
    over = {"T": {"1h": {"interval": "1h", "every": 3}}, "k": [1]}
    assert list(combinations(over)) == [
        ({"T": "1h", "k": 1}, {"interval": "1h", "every": 3, "k": 1})
    ]


def test_a_placeholder_alone_keeps_the_type_of_its_value():
    values = {"num": 20, "eps_m": 0.1}
    assert fill("{num}", values) == 20
    assert isinstance(fill("{num}", values), int)
    assert fill("farthest:eps_m={eps_m},num={num}", values) == "farthest:eps_m=0.1,num=20"
    assert fill("nothing", values) == "nothing"
    assert fill(3, values) == 3


@pytest.mark.parametrize("text", ["{x}", "a {x}", "{0}", "{", "{num.x}", "{num[0]}"])
def test_for_an_unknown_placeholder_the_known_ones_are_listed(text):
    with pytest.raises(UserError, match=r"cannot fill .*; it may use: num$"):
        fill(text, {"num": 20})


@pytest.mark.parametrize(
    "wrong",
    [
        {"configuration": "{x}"},
        {"users": ("{x}",)},
        {"settings": {"interval": "{x}"}},
        {"attacks": {"every": "{x}"}},
        {"label": "{x}"},
    ],
)
def test_an_unknown_placeholder_is_a_fault_of_the_spec_wherever_it_stands(cohort, wrong):
    with pytest.raises(UserError, match=r"cannot fill '\{x\}': 'x'; it may use: target"):
        plans(cohort, **wrong)


def test_a_run_has_its_keys_its_seed_and_its_trial(cohort):
    found = plans(
        cohort,
        seeds=(0, 1),
        configuration="{scheme} + farthest:num={num} (on {target})",
        settings={**TINY, "interval": "{T}"},
        attacks={"method": "first_layer", "every": "{every}"},
        over={"scheme": {"SGD": "fedsgd"}, "num": [1, 5], "T": {"a": {"T": "1d", "every": 2}}},
        only_round=2,
        times=3,
        keep=("found",),
    )
    assert [(plan.keys["num"], plan.seed) for plan in found] == [(1, 0), (1, 1), (5, 0), (5, 1)]
    last = found[-1]
    assert last.keys == {"name": "part", "scheme": "SGD", "num": 5, "T": "a"}
    assert last.users == ("u0",)
    trial = last.trial
    assert trial.settings.configuration.startswith("fedsgd")
    assert "num=5" in trial.settings.configuration
    assert trial.settings.protection.defended == ("u0",)
    assert (trial.settings.task.interval, trial.attacks.who.every) == ("1d", 2)
    assert (trial.seed, trial.attacks.who.seed, trial.attacks.who.target) == (1, 1, "u0")
    assert trial.same_round == SameRound(2, 3)
    assert trial.keep == {"found"}
    assert trial.area == cohort.area


def test_what_is_measured_decides_whether_the_run_is_attacked_or_counted(cohort):
    kinds = {}
    for measures in ("attack", "training", "data"):
        (plan,) = plans(cohort, measures=measures)
        kinds[measures] = (plan.trial.attacks is not None, plan.trial.counted)
    assert kinds == {"attack": (True, False), "training": (False, False), "data": (False, True)}


def test_the_label_starts_at_the_mean_signal_asked_for(cohort):
    found = plans(cohort, label="{label}", over={"label": ["target", "cell", "10%"]})
    labels = [plan.trial.attacks.dlg.label_dbm for plan in found]
    assert labels == [cohort.mean_dbm(whose, 0) for whose in ("target", "cell", "10%")]
    (plan,) = plans(cohort)
    assert plan.trial.attacks.dlg.label_dbm is None


def test_a_role_that_no_user_has_is_planned_with_the_reason(cohort):
    found = plans(
        cohort,
        seeds=(0, 1),
        users=("target", "{role}"),
        over={"with": {"one": {"role": "similar:1"}, "other": {"role": "dissimilar"}}},
    )
    assert [plan.trial is None for plan in found] == [False, False, True, True]
    assert found[0].users == ("u0", "u1")
    assert found[2].keys["with"] == "other"
    assert found[3].seed == 1
    assert found[2].why_not == "no user is dissimilar among the 2 users of the cell"


def test_a_wrong_setting_is_a_fault_of_the_spec(cohort):
    with pytest.raises(UserError, match="unknown scheme 'fedsdg'"):
        plans(cohort, configuration="fedsdg")
    with pytest.raises(UserError, match="did you mean 'interval'"):
        plans(cohort, settings={"intervall": "1d"})
    with pytest.raises(UserError, match="did you mean 'every'"):
        plans(cohort, attacks={"evry": 2})


@pytest.mark.parametrize(
    "configuration",
    ["fedavg + {step} + centre", ("fedavg", "{step}", "centre"), ("fedavg + {step}", "centre")],
)
def test_objects_stand_where_the_text_has_their_place(cohort, configuration):
    found = plans(cohort, configuration=configuration, over={"step": [First(2), First(9)]})
    assert [plan.keys["step"] for plan in found] == ["first:num=2", "first:num=9"]
    steps = [plan.trial.settings.protection.steps for plan in found]
    assert steps == [(First(2),), (First(9),)]
    assert found[0].trial.configuration.startswith("fedavg + first:num=2 + centre")


def test_a_whole_configuration_may_be_objects(cohort):
    (one,) = plans(cohort, configuration=(Mean(), "fedsgd", First(2)))
    assert one.trial.settings.map == Mean()
    assert one.trial.configuration == "mean + fedsgd + first:num=2 + centre"
    over = {"configuration": [("fedavg", First(2)), "fedsgd"]}
    found = plans(cohort, configuration="{configuration}", over=over)
    assert [plan.keys["configuration"] for plan in found] == ["fedavg + first:num=2", "fedsgd"]
    configurations = [plan.trial.configuration for plan in found]
    assert configurations == ["fedavg + first:num=2 + centre", "fedsgd + centre"]
