import pytest

from veilmap.errors import UserError
from veilmap.reproduction.labels import paper_specs


def test_all_are_the_two_tables_the_figures_and_the_label_study():
    labels = [spec.label for spec in paper_specs()]
    assert len(labels) == len(set(labels)) == 34
    assert sum(label.startswith("tab:") for label in labels) == 2
    assert "label-start" in labels


def test_labels_come_in_the_order_of_the_paper():
    asked = ("fig:dpanalysis", "tab:radiocells", "fig:density_maps_uci")
    assert [spec.label for spec in paper_specs(asked)] == list(reversed(asked))


def test_every_unknown_label_is_named_with_the_nearest():
    with pytest.raises(
        UserError, match=r"'tab:radiocell'; did you mean tab:radiocells\?.*'nosuch'"
    ):
        paper_specs(("tab:radiocell", "nosuch"))


def test_every_spec_has_claims_or_a_picture_and_every_published_number_a_run():
    for spec in paper_specs():
        assert spec.claims or spec.pictures
        keys = {key for runs in spec.runs for key in runs.over} | {"name"}
        for row in spec.numbers:
            assert keys & set(row) or len(row) == 1, (spec.label, row)
