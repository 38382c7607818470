"""A redacted audit holds no position, no place found and no user's name, in none of its files."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

from tests.auditing.making import TINY, make_data
from tests.auditing.searching import numbers, texts
from veilmap.auditing.audit import audit
from veilmap.errors import UserError
from veilmap.experiments import run_trial
from veilmap.experiments.schedule import Progress
from veilmap.measurements import Measurements

NAMES = {"u0": "alice-77", "u1": "bob-88"}
# Of figures and of strokes in a drawing none is within these degrees by chance; in London, 51.31 m
# from a round's centroid (``distance_m``) would read as a latitude.
LAT_DEG, LON_DEG = -41.29, -173.77
AREA_DEG = (LON_DEG - 0.03, LAT_DEG - 0.02, LON_DEG + 0.03, LAT_DEG + 0.02)
GIVEN = {
    **TINY,
    "seeds": 1,
    "area": AREA_DEG,
    "tower": (LAT_DEG, LON_DEG),
    "target": tuple(NAMES.values()),
    "min_home_error_m": 1.0,
    "jobs": 1,
    "command": (
        f"veilmap audit x --area {' '.join(map(str, AREA_DEG))} --tower {LAT_DEG} {LON_DEG} "
        f"--target {' '.join(NAMES.values())} --seeds 1"
    ),
}


@pytest.fixture(scope="module")
def data():
    moved = make_data().table.with_columns(
        pl.col("user").replace_strict(NAMES),
        pl.col("lat_deg") - 51.5 + LAT_DEG,
        pl.col("lon_deg") + 0.1 + LON_DEG,
    )
    return Measurements.of(moved)


@pytest.fixture(scope="module")
def kept(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("kept") / "out"
    return audit(data, out=out, **GIVEN), out


@pytest.fixture(scope="module")
def redacted(data, kept, tmp_path_factory):
    """Over a copy of the one with positions."""
    out = tmp_path_factory.mktemp("redacted") / "out"
    shutil.copytree(kept[1], out)
    messages = []
    progress = Progress(on_message=messages.append)
    found = audit(data, out=out, redact=True, figures=True, progress=progress, **GIVEN)
    return found, out, messages


def named(folder):
    """The files that name a user."""
    return {file for file, text in texts(folder) for name in NAMES.values() if name in text}


def placed(folder, data):
    """The files with a number within the area: in degrees, or in metres of the projection."""
    west, south, east, north = AREA_DEG
    (x_min, y_min), (x_max, y_max) = data.xy_m.min(axis=0) - 100, data.xy_m.max(axis=0) + 100
    ranges = np.array([(south, north), (west, east), (x_min, x_max), (y_min, y_max)])
    return {
        file
        for file, number in numbers(folder)
        if ((ranges[:, 0] <= number) & (number <= ranges[:, 1])).any()
    }


def from_an_origin(folder, data, found):
    """The files with a true or found place in metres from the area's corner or middle."""
    places = [data.xy_m]
    for each in found.content.ground.found.values():
        for track in (each.locations, each.cloud):
            places.append(data.projection.metres(track.lat_deg, track.lon_deg))
    xy_m = np.concatenate(places)
    corners = data.projection.metres(np.array(AREA_DEG[1::2]), np.array(AREA_DEG[::2]))
    middle = corners.mean(axis=0)
    known = np.sort(np.concatenate([xy_m - corners[0], xy_m - middle]).ravel())
    files, values = zip(*numbers(folder), strict=True)
    after = np.clip(np.searchsorted(known, values), 1, len(known) - 1)
    off = np.minimum(abs(known[after] - values), abs(known[after - 1] - values))
    return {file for file, is_near in zip(files, off < 1e-6, strict=True) if is_near}


def test_the_search_finds_what_is_there(kept, data, tmp_path):
    found, out = kept
    assert {"report.html", "results.json"} <= named(out)
    everywhere = placed(out, data)
    assert {"report.html", "results.json"} <= everywhere
    assert {file.rpartition(".")[2] for file in everywhere} == {"html", "json", "npz"}
    (tmp_path / "a.json").write_text(json.dumps((data.xy_m[7] - data.xy_m.min(axis=0)).tolist()))
    assert from_an_origin(tmp_path, data, found) == set()
    corner = data.projection.metres(np.array([AREA_DEG[1]]), np.array([AREA_DEG[0]]))
    (tmp_path / "a.json").write_text(json.dumps((data.xy_m[7] - corner[0]).tolist()))
    assert from_an_origin(tmp_path, data, found) == {"a.json"}


def test_nothing_of_it_is_in_a_redacted_folder(kept, redacted, data):
    found, out, messages = redacted
    assert found.content.ground is None
    # The positions of both configurations, the report and the results.
    assert messages[0].startswith("removed 4 files with positions of an earlier audit")
    assert "(2 cached)" in messages[2]
    assert named(out) == set()
    assert placed(out, data) == set()
    assert from_an_origin(out, data, kept[0]) == set()
    suffixes = {path.suffix for path in out.rglob("*") if path.is_file()}
    assert suffixes == {".json", ".html", ".pdf", ".png"}
    assert any(file.endswith(".pdf") for file, _ in numbers(out))


def test_what_an_earlier_audit_kept_is_not_kept_again(redacted, data):
    _, out, _ = redacted
    found = audit(data, out=out, redact=True, fresh=True, **GIVEN)
    assert found.content.ground is None
    assert placed(out, data) == set()
    assert not list(out.glob("trials/*.npz"))


def test_a_redacted_audit_has_the_figures_of_the_other_and_ran_nothing_again(kept, redacted):
    found = redacted[0]
    assert found.rows.drop("target").equals(kept[0].rows.drop("target"))
    assert found.rows["target"].unique().sort().to_list() == ["no. 1", "no. 2"]
    assert found.content.targets == ("no. 1", "no. 2")
    assert "--target" not in found.record["resolved"]["command"]
    assert "targets = 2" in found.content.made.settings_toml


@pytest.mark.parametrize(
    "given", [{"defended": "u0", "defence": "centre"}, {"broken": "u0=nan"}], ids=["on", "broken"]
)
def test_settings_that_name_users_cannot_be_redacted(given):
    tiny = {**TINY, "configurations": (), **given}
    if "defended" in given:
        tiny |= {"defence": "farthest:eps_m=50,num=5"}
    with pytest.raises(UserError, match=r"names users, and with --redact no name may be written"):
        audit(make_data(), redact=True, jobs=1, **tiny)


def test_why_a_run_failed_names_no_user(data, tmp_path, monkeypatch):
    whole = run_trial.train_prepared

    def failing(prepared, *args, **keywords):
        if prepared.settings.protection.defence:
            raise UserError("user 'alice-77' sent no update; choose one of: bob-88")
        return whole(prepared, *args, **keywords)

    monkeypatch.setattr(run_trial, "train_prepared", failing)
    for redact in (False, True):
        found = audit(data, out=tmp_path, redact=redact, **GIVEN)
        assert bool(named(tmp_path)) is not redact
    (why,) = found.ranking.failed.values()
    assert why == "user '…' sent no update; choose one of: …"
