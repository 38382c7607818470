import pytest

from tests.flower.making import make_campaign
from tests.maps.making import Bumps, Still
from veilmap.errors import UserError
from veilmap.federation.plan import Training
from veilmap.flower.asking import campaign_for
from veilmap.flower.campaign import Campaign
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.study.settings import RunSettings

PUBLIC = {"cell": "x204", "area": (-117.85, 33.63, -117.82, 33.66), "label_offset_dbm": -95}


def make(first="2024-01-01", rounds=5, **settings):
    return campaign_for(
        RunSettings.of(**{"map": "network", **PUBLIC, **settings}), first=first, rounds=rounds
    )


def test_a_campaign_is_what_the_settings_say():
    campaign = make(interval="1d", epochs=3, defence=["farthest:eps=50,num=20"], seed=4)
    assert (campaign.cell, campaign.epsg, campaign.interval_s) == ("x204", 32611, 86_400)
    assert campaign.first_s == 1_704_067_200
    assert campaign.start_s(2) == 1_704_067_200 + 86_400
    assert (campaign.training.epochs, campaign.seed) == (3, 4)
    assert campaign.defence == ("farthest:eps_m=50,num=20",)
    assert 2_500 < campaign.area.width_m < 3_500


def test_a_time_with_an_offset_is_that_moment():
    assert make(first="2024-01-01T02:00+02:00").first_s == 1_704_067_200


@pytest.mark.parametrize(("given", "text"), [(Bumps(), "bumps:width=6"), (Still(), "still")])
def test_nodes_make_the_maps_of_veilmap_alone(given, text):
    with pytest.raises(UserError, match=f"got map {text}; take --map network or --map kriging"):
        make(map=given)


def test_by_default_nodes_make_a_kriging_map():
    assert make(map="kriging", square_m=40).map == KrigingMap(40)
    assert make(map="kriging:square_m=40").map == KrigingMap(40)
    plain = campaign_for(RunSettings.of(**PUBLIC), first="2024-01-01", rounds=1)
    assert plain.map == KrigingMap()


@pytest.mark.parametrize("given", [NetworkMap((4, 4)), "network:hidden=4 4"])
def test_nodes_train_the_layers_that_the_map_names(given):
    assert make(map=given).map == NetworkMap((4, 4))


def test_it_travels_as_text():
    campaign = make(label_offset_dbm="none")
    assert Campaign.of_text(campaign.text) == campaign
    assert campaign.label_offset_dbm == 0


def test_all_that_a_server_cannot_know_is_named_at_once():
    settings = RunSettings.of(defence=["gan:learns_from=public"], defended=["0"], scaler="fitted")
    with pytest.raises(UserError) as error:
        campaign_for(settings, first="2024-01-01", rounds=1)
    for way_out in ("--cell", "--area", "--label-offset", "--scaler", "--defended", "learns_from"):
        assert way_out in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "a campaign must be JSON"),
        ("{}", "campaign: cell is missing; add it"),
        ('{"cel": "a"}', "did you mean 'cell'"),
    ],
)
def test_a_text_that_is_no_campaign_is_refused(text, message):
    with pytest.raises(UserError, match=message):
        Campaign.of_text(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 0}, "rounds must be from 1 to 1,000,000, got 0"),
        ({"first": "soon"}, "cannot read the time 'soon'"),
    ],
)
def test_a_campaign_that_is_none_is_refused(change, message):
    with pytest.raises(UserError, match=message):
        make(**change)


def test_a_sum_hides_the_single_updates_that_a_median_compares():
    robust = {"training": Training(aggregation="trimmed")}
    with pytest.raises(UserError, match="--aggregation trimmed compares single updates, and under"):
        make_campaign(secure_aggregation=True, **robust)
    make_campaign(**robust)
