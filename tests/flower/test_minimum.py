import pytest

from tests.flower.making import make_campaign
from tests.study.foreign_attacks import install
from tests.study.foreign_steps import First, Noise
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.defences.gaussian import epsilon_of
from veilmap.errors import UserError
from veilmap.federation.plan import Training
from veilmap.flower.minimum import Minimum, mu_of_update
from veilmap.study.protection import Protection


def names(steps):
    return [step.name for step in steps]


def steps_of(*texts):
    return Protection(texts).steps


def test_by_default_a_node_averages_as_fedavg_and_takes_farthest_batch():
    minimum = Minimum()
    asked = Training(epochs=1, batch_size="inf", learning_rate=0.5)
    done = minimum.training(asked)
    assert (done.epochs, done.batch_size, done.learning_rate) == (5, 20, 0.5)
    assert names(minimum.steps(())) == ["farthest"]


def test_a_learning_rate_that_undoes_the_averaging_is_raised():
    """With η → 0 all local steps start from the same weights: the update is one gradient."""
    assert Minimum(learning_rate=1e-4).training(Training(learning_rate=1e-9)).learning_rate == 1e-4


def test_work_without_end_and_earlier_rounds_again_are_not_done():
    endless = make_campaign(training=Training(epochs=10_000))
    assert list(Minimum().objections(endless)) == ["trains for 1,000 epochs at most"]
    again = make_campaign(training=Training(cumulative=True))
    assert list(Minimum().objections(again)) == ["does not train on earlier rounds again"]
    assert list(Minimum(cumulative=True).objections(again)) == []


def test_more_averaging_than_the_minimum_is_done_as_asked():
    done = Minimum().training(Training(epochs=9, batch_size=4))
    assert (done.epochs, done.batch_size) == (9, 4)


def test_no_demand_on_averaging_leaves_fedsgd():
    asked = Training(epochs=1, batch_size="inf")
    assert Minimum(epochs=1, batch_size="inf").training(asked) == asked


def test_the_nodes_settings_win_over_those_that_the_server_proposes():
    minimum = Minimum(defence=("farthest:eps_m=100,num=5",))
    (step,) = minimum.steps(steps_of("farthest:eps_m=1,num=1000"))
    assert (step.eps_m, step.num) == (100, 5)


def test_noise_on_the_update_is_taken_as_proposed_and_no_second_selection():
    asked = steps_of("geoind:epsilon=0.02", "diverse:eps_m=50", "dp:epsilon=10")
    assert names(Minimum().steps(asked)) == ["farthest", "dp"]
    assert names(Minimum(defence=("dp:epsilon=1",)).steps(asked)) == ["geoind", "diverse", "dp"]
    assert names(Minimum(defence=()).steps(asked)) == ["geoind", "diverse", "dp"]


def test_a_proposal_that_does_not_go_with_the_nodes_steps_is_dropped():
    """The control stands in place of a selection, so it would undo it."""
    assert names(Minimum().steps(steps_of("random:num=5"))) == ["farthest"]


def test_raw_labels_and_unlikely_means_are_not_learned():
    for offset_dbm in (0.0, 1000.0):
        (why,) = Minimum().objections(make_campaign(label_offset_dbm=offset_dbm))
        assert why == "learns deviations from a mean of -140 to -40 dBm only"
    assert list(Minimum(centred=False).objections(make_campaign(label_offset_dbm=0.0))) == []


def test_by_default_a_selection_has_something_to_choose_from():
    assert not Minimum().keeps_whole
    assert Minimum(points=20).keeps_whole
    assert Minimum(points=20, defence=("diverse:eps_m=50,size=20",)).keeps_whole
    assert not Minimum(points=20, defence=("diverse:eps_m=50,size=19",)).keeps_whole
    assert not Minimum(points=1, defence=("geoind:epsilon_per_m=0.01",)).keeps_whole


def test_a_round_shorter_than_the_nodes_is_not_answered():
    minimum = Minimum(interval="2d")
    assert ["shorter than 2d" in why for why in minimum.objections(make_campaign())] == [True]
    assert list(Minimum(interval="1d").objections(make_campaign())) == []


def test_a_node_that_wants_sums_keeps_out_where_there_are_none():
    minimum = Minimum(secure_aggregation=True)
    assert list(minimum.objections(make_campaign())) == ["answers only under secure aggregation"]
    assert list(minimum.objections(make_campaign(secure_aggregation=True))) == []


def test_a_budget_without_dp_is_kept_by_silence():
    minimum = Minimum(epsilon=8)
    (why,) = minimum.overspends(steps_of("farthest"), 0.0)
    assert "needs dp" in why


def test_the_budget_is_spent_after_as_many_updates_as_it_pays_for():
    """Gaussian updates compose by squares: k of them have μ√k."""
    step = DifferentialPrivacy(epsilon=1)
    mu = mu_of_update([step])
    assert mu is not None
    budget = epsilon_of(mu * 3**0.5, 1e-5) + 1e-9
    minimum, answered = Minimum(epsilon=budget), 0
    while not list(minimum.overspends([step], mu * answered**0.5)):
        answered += 1
    assert answered == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": 0}, "minimum.epochs must be at least 1, got 0"),
        ({"nodes": 2}, "minimum.nodes must be at least 3, got 2"),
        ({"epsilon": -1.0}, "minimum.epsilon must be above 0, got -1.0"),
        ({"interval": "soon"}, "cannot read the interval 'soon'"),
        ({"defence": ("fartest",)}, "unknown defence 'fartest'"),
        ({"delta": 2.0}, "delta must be above 0 and below 1"),
        ({"maps": ("krigin",)}, "unknown map of minimum.maps 'krigin'; choose one of: network, kr"),
        ({"maps": ()}, "unknown map of minimum.maps ''; choose one of: network, kriging"),
    ],
)
def test_demands_that_are_none_are_refused(wrong, message):
    with pytest.raises(UserError, match=message):
        Minimum(**wrong)


def test_a_node_knows_steps_of_installed_packages_by_name(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    here = "tests.study.foreign_steps"
    install(tmp_path, "veilmap.defences", first=f"{here}:First", noise=f"{here}:Noise")
    minimum = Minimum(defence=("first:num=2",))
    assert minimum.steps(steps_of("diverse", "noise:sigma=0.5")) == (First(2), Noise(0.5))
    with pytest.raises(
        UserError, match=r"unknown defence 'second'; .*install the package that has"
    ):
        Minimum(defence=("second",))


def test_the_noise_of_any_step_counts_for_the_budget():
    counted = type("Counted", (Noise,), {"mu": 0.25})()
    assert mu_of_update([First(), counted]) == 0.25
    assert mu_of_update([First(), Noise()]) is None


def test_a_budget_for_positions_comes_before_all_other_steps_on_points():
    minimum = Minimum(defence=("random:num=5", "geoind", "dp:epsilon=1"))
    assert names(minimum.steps(())) == ["geoind", "random", "dp"]
