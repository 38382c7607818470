import numpy as np
import pytest

from veilmap.kriging.central import central_kriging, medians
from veilmap.local_data import LocalData, Round
from veilmap.model.threads import one_thread


@pytest.fixture(autouse=True)
def _on_one_thread():
    with one_thread():
        yield


def rounds_of(*batches):
    """One user's rows (x_m, y_m, dBm), a round each."""
    made = []
    for number, rows in enumerate(batches, 1):
        table = np.array(rows, float)
        data = LocalData(table[:, :2], table[:, 2], np.arange(len(table), dtype=float))
        made.append(Round(number, 0.0, {"a": data}))
    return tuple(made)


def field_rounds(draw, rows=160, noise_db=1.0, side_m=700.0):
    """A smooth field over a square, measured with noise, in four rounds."""
    xy_m = draw.uniform(0, side_m, (rows, 2))
    dbm = field(xy_m) + draw.normal(0, noise_db, rows)
    table = np.column_stack([xy_m, dbm])
    return rounds_of(*np.array_split(table, 4))


def field(xy_m):
    return -95 + 10 * np.sin(xy_m[:, 0] / 200) + 6 * np.cos(xy_m[:, 1] / 250)


def test_medians_of_groups():
    """3 of (9, 3, 1), and 5 between 2 and 8."""
    found = medians(np.array([9.0, 2, 3, 8, 1]), np.array([0, 1, 0, 1, 0]))
    assert found.tolist() == [3, 5]


def test_rows_of_one_user_round_and_place_count_once():
    """100 rows at rest at -80 are one median, as are the two others: their mean is -90."""
    resting = [(5, 5, -80.0)] * 100
    observed = central_kriging(rounds_of(resting, [(6, 5, -90.0)], [(5, 6, -100.0)])).observed
    assert observed.k.tolist() == [3]
    assert observed.mean_db.tolist() == [pytest.approx(-90)]


def test_the_median_ignores_a_row_that_is_far_off():
    observed = central_kriging(rounds_of([(5, 5, -80), (5, 6, -81), (6, 5, -140)])).observed
    assert observed.mean_db.tolist() == [-81]


def test_a_smooth_field_is_found_between_the_measurements():
    """Far below the 8 dB by which the field varies, and no worse than the noise of a row."""
    draw = np.random.default_rng(0)
    kriging = central_kriging(field_rounds(draw))
    xy_m = draw.uniform(100, 600, (500, 2))
    mean_db, _ = kriging.predict(xy_m)
    assert np.sqrt(np.mean((mean_db - field(xy_m)) ** 2)) < 1.0


def test_the_errors_are_as_large_as_the_stated_uncertainty():
    """The root mean square of error / std is near 1; a smooth field is rather easier."""
    draw = np.random.default_rng(1)
    kriging = central_kriging(field_rounds(draw, noise_db=3.0))
    xy_m = draw.uniform(0, 700, (500, 2))
    mean_db, std_db = kriging.predict(xy_m)
    z = (mean_db - field(xy_m)) / std_db
    assert 0.3 < np.sqrt(np.mean(z**2)) < 1.3


def test_far_away_it_is_the_mean_and_most_uncertain():
    kriging = central_kriging(field_rounds(np.random.default_rng(2)))
    mean_db, std_db = kriging.predict(np.array([[350.0, 350.0], [1e6, 1e6]]))
    assert mean_db[1] == pytest.approx(kriging.mean_db)
    assert std_db[1] >= kriging.kernel.std_db > std_db[0]


def test_predictions_do_not_depend_on_how_many_are_asked_for():
    kriging = central_kriging(field_rounds(np.random.default_rng(3)))
    xy_m = np.random.default_rng(4).uniform(0, 700, (50, 2))
    together, one_by_one = kriging.predict(xy_m), [kriging.predict(xy_m[[i]]) for i in range(50)]
    np.testing.assert_allclose(together[0], [mean[0] for mean, _ in one_by_one])
    np.testing.assert_allclose(together[1], [std[0] for _, std in one_by_one])


def test_moving_all_positions_and_all_signals_moves_the_map():
    """By whole places, so that the same rows share one."""
    draw = np.random.default_rng(5)
    table = np.column_stack([draw.uniform(0, 1000, (100, 2)), draw.normal(-95, 5, 100)])
    shift_m = np.array([500.0, -1000.0])
    moved = table + np.append(shift_m, 7.0)
    xy_m = draw.uniform(0, 1000, (20, 2))
    there = central_kriging(rounds_of(table)).predict(xy_m)
    here = central_kriging(rounds_of(moved)).predict(xy_m + shift_m)
    np.testing.assert_allclose(here[0], there[0] + 7, atol=1e-3)
    np.testing.assert_allclose(here[1], there[1], atol=1e-3)


def test_places_grow_until_there_are_few_enough(monkeypatch):
    monkeypatch.setattr("veilmap.kriging.central._MOST_PLACES", 50)
    kriging = central_kriging(field_rounds(np.random.default_rng(6)))
    assert len(kriging.observed) <= 50
    assert kriging.observed.k.sum() > 120


@pytest.mark.parametrize(
    "rows",
    [[(5, 5, -90)], [(5, 5, -90)] * 3, [(60 * k, 0, -90) for k in range(20)]],
    ids=["one row", "one place", "one signal"],
)
def test_degenerate_data_give_their_mean_everywhere(rows):
    mean_db, std_db = central_kriging(rounds_of(rows)).predict(np.array([[5.0, 5], [900, 900]]))
    assert mean_db == pytest.approx([-90, -90])
    assert np.isfinite(std_db).all()
    assert (std_db > 0).all()
