import pytest

from tests.flower.making import make_campaign
from veilmap.flower.disclosure import what_the_server_sees
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap


@pytest.mark.parametrize("secure_aggregation", [False, True])
@pytest.mark.parametrize("map", [NetworkMap(), KrigingMap()])
def test_what_the_server_learns_is_said_in_sentences(secure_aggregation, map):
    campaign = make_campaign(secure_aggregation=secure_aggregation, map=map)
    for sentence in what_the_server_sees(campaign):
        assert sentence[0].isupper()
        assert sentence.endswith((".", "veilmap attack RUN"))
