import pytest

from tests.flower.making import make_campaign
from veilmap.flower.disclosure import what_the_server_sees


@pytest.mark.parametrize("secure_aggregation", [False, True])
def test_what_the_server_learns_is_said_in_sentences(secure_aggregation):
    for sentence in what_the_server_sees(make_campaign(secure_aggregation=secure_aggregation)):
        assert sentence[0].isupper()
        assert sentence.endswith((".", "veilmap attack RUN"))
