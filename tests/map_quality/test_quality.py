import json
import os
import stat
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest

import veilmap
from tests.map_quality.making import TINY, field_dbm, make_field
from tests.maps.making import Mean
from veilmap.errors import UserError
from veilmap.federation.map_family import Prediction
from veilmap.map_quality.settings import MAPS
from veilmap.metrics.map_errors import TestSet


@dataclass(frozen=True)
class Doubting(Mean):
    """Knows how uncertain it is."""

    name = "doubting"

    def predict(self, footing, state, xy_m):
        found = super().predict(footing, state, xy_m)
        return Prediction(found.rsrp_dbm, np.full(len(xy_m), 3.0))


@pytest.fixture(scope="module")
def compared():
    return veilmap.quality(make_field(), maps=("network", Doubting()), **{**TINY, "seeds": 2})


def figure(result, predictor, name):
    return [getattr(row, name) for row in result.rows if row.predictor == predictor]


def test_there_is_a_row_for_every_predictor_and_seed(compared):
    keys = [(row.predictor, row.kind, row.seed) for row in compared.rows]
    kinds = ["baseline", *["central"] * 5, "federated", "federated"]
    assert keys == [
        (name, kind, seed)
        for seed in (0, 1)
        for name, kind in zip(compared.settings.predictors, kinds, strict=True)
    ]
    assert compared.figures().height == len(keys)


def test_kriging_finds_the_field_and_the_constant_has_no_skill(compared):
    """The noise of 2 dB is the least error: a skill of 0.96 beside the field's 10 dB."""
    assert figure(compared, "constant", "skill_by_place") == [0, 0]
    assert min(figure(compared, "central_kriging", "skill_by_place")) > 0.85
    assert max(figure(compared, "linear", "skill_by_place")) < 0.6
    for seed in (0, 1):
        shares = [r.share_of_best for r in compared.rows if r.seed == seed and r.kind == "central"]
        assert max(shares) == 1


def test_the_mean_of_all_points_is_as_good_as_the_constant_per_row(compared):
    assert figure(compared, "doubting", "rmse_db") == pytest.approx(
        figure(compared, "constant", "rmse_db"), abs=1e-9
    )


def test_the_last_point_of_the_curve_is_the_trained_map(compared):
    for row in compared.rows:
        own = (row.predictor, row.seed)
        points = [p.trained for p in compared.curve if (p.predictor, p.seed) == own]
        if row.kind != "federated":
            assert points == []
            continue
        assert [p.round for p in points] == sorted({p.round for p in points})
        assert len(points) > 2
        assert (points[-1].rmse_db, points[-1].skill_by_place) == (row.rmse_db, row.skill_by_place)


def test_rows_are_those_of_the_test_data_alone(compared):
    """The first seed's kriging, asked again."""
    prepared, predict = compared.first.prepared, compared.first.predict["central_kriging"]
    test = TestSet(prepared.test)
    errors = test.errors(predict(test.xy_m).rsrp_dbm)
    first = next(row for row in compared.rows if row.predictor == "central_kriging")
    assert (first.rmse_db, first.rmse_by_place_db) == (errors.rmse_db, errors.rmse_by_place_db)
    training = {time for this in prepared.rounds for d in this.data.values() for time in d.time_s}
    assert training.isdisjoint(prepared.test.time_s)


def test_the_same_seed_gives_the_same_figures(compared):
    again = veilmap.quality(make_field(), maps=("network", Doubting()), **{**TINY, "seeds": 2})
    assert [replace(row, seconds=0) for row in again.rows] == [
        replace(row, seconds=0) for row in compared.rows
    ]
    curves = ([replace(p.trained, seconds=0) for p in each.curve] for each in (again, compared))
    assert next(curves) == next(curves)


def test_a_seed_is_the_same_alone_and_among_others(compared):
    alone = veilmap.quality(make_field(), maps=(), seed=1, **TINY)
    rows = [row for row in compared.rows if row.seed == 1 and row.kind != "federated"]
    assert [replace(row, seconds=0) for row in alone.rows] == [
        replace(row, seconds=0) for row in rows
    ]


def test_sentences_and_floor_go_with_the_rows(compared):
    assert compared.sentences[0].startswith("The best centralised map is ")
    constants = figure(compared, "constant", "rmse_by_place_db")
    floor_db = compared.noise_floor.rmse_by_place_db
    expected = np.mean([1 - (floor_db / each) ** 2 for each in constants])
    assert compared.floor_skill_by_place == pytest.approx(expected)


def test_a_folder_has_the_figures_and_the_picture_for_its_owner_alone(tmp_path):
    done = []
    found = veilmap.quality(
        make_field(300), out=tmp_path / "out", split="block", block_m=150, threshold_dbm=-100,
        on_done=lambda predictor, seed: done.append((predictor, seed)), **TINY,
    )  # fmt: skip
    assert done == [(name, 0) for name in found.settings.predictors]
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == ["quality.png", "results.json"]
    if os.name == "posix":
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    content = json.loads(files[1].read_text())
    assert content == json.loads(json.dumps(found.as_json()))
    assert content["schema"] == 1
    assert content["settings"]["quality"] == {
        "maps": [*MAPS], "seeds": 1, "threshold_dbm": -100.0,
    }  # fmt: skip
    assert content["settings"]["test"]["block_m"] == 150
    assert content["settings"]["resolved"]["cell"] == "a"
    assert "scikit-learn" in content["settings"]["versions"]
    assert len(content["rows"]) == 6 + len(MAPS)
    assert {each["predictor"] for each in content["history"]} == {*MAPS}
    assert set(content["noise_floor"]) == {"rmse_db", "rmse_by_place_db", "places", "rows_share"}


def test_a_finished_comparison_is_replaced_only_if_that_is_wanted(tmp_path):
    data, out = make_field(150), tmp_path / "out"
    veilmap.quality(data, out=out, maps=(), **TINY)
    before = (out / "results.json").read_text()
    with pytest.raises(UserError, match="holds a finished comparison; choose another --out or add"):
        veilmap.quality(data, out=out, maps=(), **TINY)
    assert (out / "results.json").read_text() == before
    veilmap.quality(data, out=out, maps=(), overwrite=True, **{**TINY, "seed": 1})
    assert json.loads((out / "results.json").read_text())["rows"][0]["seed"] == 1


def test_the_folder_of_a_run_is_left_alone(tmp_path):
    (tmp_path / "settings.json").write_text("{}")
    with pytest.raises(UserError, match="holds a run or a transcript; choose another --out"):
        veilmap.quality(make_field(150), out=tmp_path, overwrite=True, **TINY)
    assert [file.name for file in tmp_path.iterdir()] == ["settings.json"]


def still(data):
    """All rows at the place of the first."""
    columns = [pl.col(name).first() for name in ("lat_deg", "lon_deg", "x_m", "y_m")]
    return replace(data, table=data.table.with_columns(columns))


@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        (make_field(40), {}, r"at least 50 rows, got 40 rows of cell 'a'; choose another --cell"),
        (still(make_field(90)), {}, r"at several places, got 90 rows of cell 'a' in one square of"),
        (
            replace(
                make_field(90), table=make_field(90).table.with_columns(rsrp_dbm=pl.lit(-90.0))
            ),
            {},
            r"a signal that varies, got -90 dBm in all 90 rows of cell 'a'; choose another",
        ),
        (
            make_field(90),
            {"split": "block", "block_m": 1e9},
            r"a block split of 90 rows gives a test share of 0.00, far from .* --block or",
        ),
        (make_field(90), {"cell": "b"}, r"cell 'b'"),
    ],
    ids=["few rows", "one place", "one signal", "one block", "no such cell"],
)
def test_data_without_a_map_are_refused(data, given, message):
    with pytest.raises(UserError, match=message):
        veilmap.quality(data, maps=(), **TINY, **given)


def test_settings_come_in_one_way_only():
    settings = veilmap.QualitySettings()
    with pytest.raises(UserError, match="quality takes only one of settings, keywords"):
        veilmap.quality(make_field(90), settings, seeds=1)


def test_the_field_is_as_the_tests_say():
    """It varies by about 10 dB."""
    xy_m = make_field().xy_m
    assert 8 < field_dbm(xy_m - xy_m.mean(axis=0)).std() < 12
