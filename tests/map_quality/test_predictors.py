import numpy as np
import pytest

from tests.map_quality.making import field_dbm
from veilmap.local_data import LocalData, Round
from veilmap.map_quality.predictors import CENTRAL, all_rows, constant, nearest_neighbours
from veilmap.model.threads import one_thread

FAR_M = np.array([699_000.0, 5_710_000.0])  # as in UTM


@pytest.fixture(autouse=True, scope="module")
def _on_one_thread():
    with one_thread():
        yield


def rounds_of(xy_m, dbm, parts=3):
    """One user's rows in rounds."""
    pieces = np.array_split(np.arange(len(dbm)), parts)
    time_s = np.arange(len(dbm), dtype=float)
    return tuple(
        Round(number, 0.0, {"a": LocalData(xy_m[rows], dbm[rows], time_s[rows])})
        for number, rows in enumerate(pieces, 1)
    )


@pytest.fixture(scope="module")
def measured():
    """A smooth field in UTM coordinates, with 1 dB of noise."""
    draw = np.random.default_rng(0)
    xy_m = draw.uniform(-300, 300, (500, 2))
    far = xy_m + FAR_M
    return rounds_of(far, field_dbm(xy_m) + draw.normal(0, 1, 500)), far, field_dbm(xy_m)


@pytest.mark.parametrize("name", [name for name in CENTRAL if name != "linear"])
def test_a_smooth_field_is_found_in_far_coordinates(name, measured):
    """Of a field that varies by 10 dB; in single precision a metre would be lost there."""
    rounds, xy_m, dbm = measured
    predicted = CENTRAL[name](rounds, 0)(xy_m)
    assert np.sqrt(np.mean((predicted.rsrp_dbm - dbm) ** 2)) < 0.4 * dbm.std()


def test_places_a_hand_apart_are_told_apart_in_far_coordinates():
    """20 cm at 5,710 km, which single precision would round to half a metre."""
    xy_m = FAR_M + np.array([[0.0, 0], [0, 0.2]])[np.arange(40) % 2]
    dbm = np.where(np.arange(40) % 2, -80.0, -100.0)
    predicted = CENTRAL["random_forest"](rounds_of(xy_m, dbm), 0)(xy_m[:2])
    np.testing.assert_allclose(predicted.rsrp_dbm, [-100, -80], atol=1e-6)


def test_a_plane_is_found_by_a_line():
    draw = np.random.default_rng(1)
    xy_m = draw.uniform(0, 1000, (60, 2))
    dbm = -90 + xy_m @ [0.01, -0.02]
    far = xy_m + FAR_M
    predicted = CENTRAL["linear"](rounds_of(far, dbm), 0)(far)
    np.testing.assert_allclose(predicted.rsrp_dbm, dbm, atol=1e-6)


@pytest.mark.parametrize("name", CENTRAL)
def test_the_same_seed_gives_the_same_bits(name, measured):
    rounds, xy_m, _ = measured
    one, again = (CENTRAL[name](rounds, 3)(xy_m).rsrp_dbm for _ in range(2))
    assert one.tobytes() == again.tobytes()


def test_the_forest_follows_the_seed(measured):
    rounds, xy_m, _ = measured
    one, other = (CENTRAL["random_forest"](rounds, seed)(xy_m).rsrp_dbm for seed in (0, 1))
    assert (one != other).any()


@pytest.mark.parametrize("name", CENTRAL)
def test_what_a_predictor_says_of_a_place_does_not_depend_on_the_others(name, measured):
    rounds, xy_m, _ = measured
    predict = CENTRAL[name](rounds, 0)
    np.testing.assert_allclose(predict(xy_m[::7]).rsrp_dbm, predict(xy_m).rsrp_dbm[::7], rtol=1e-9)


@pytest.mark.parametrize("name", CENTRAL)
def test_one_signal_everywhere_is_predicted_everywhere(name):
    xy_m = np.random.default_rng(2).uniform(0, 500, (60, 2))
    predicted = CENTRAL[name](rounds_of(xy_m, np.full(60, -90.5)), 0)(xy_m + 50)
    np.testing.assert_allclose(predicted.rsrp_dbm, -90.5, atol=1e-6)


@pytest.mark.parametrize("name", CENTRAL)
def test_few_rows_in_one_place_are_enough(name):
    dbm = np.random.default_rng(3).normal(-95, 3, 12)
    predicted = CENTRAL[name](rounds_of(np.full((12, 2), 7.0), dbm), 0)(np.full((2, 2), 7.0))
    assert np.abs(predicted.rsrp_dbm - dbm.mean()).max() < 3


def test_the_constant_is_the_mean_over_places():
    """Three rows of -90 in one place and one of -100 in another."""
    xy_m = np.array([[0.0, 0], [0, 0], [0, 0], [60, 0]])
    predict = constant(rounds_of(xy_m, np.array([-90.0, -90, -90, -100])), 0)
    assert predict(np.zeros((2, 2))).rsrp_dbm.tolist() == [-95, -95]


def test_the_number_of_neighbours_grows_with_the_noise():
    """Alone, 5 neighbours follow a field without noise best, and more are needed under 20 dB."""
    draw = np.random.default_rng(4)
    xy_m = draw.uniform(-300, 300, (600, 2))
    clean, noise_db = field_dbm(xy_m), draw.normal(0, 20, 600)
    errors = [
        np.abs(nearest_neighbours(rounds_of(xy_m, dbm), 0)(xy_m).rsrp_dbm - clean).mean()
        for dbm in (clean, clean + noise_db)
    ]
    assert errors[0] < 1.5
    assert errors[1] < 0.4 * np.abs(noise_db).mean()


def test_only_kriging_knows_its_uncertainty(measured):
    rounds, xy_m, _ = measured
    knowing = [n for n, fit in CENTRAL.items() if fit(rounds, 0)(xy_m[:3]).std_db is not None]
    assert knowing == ["central_kriging"]


def test_all_rows_are_those_of_all_rounds(measured):
    rounds, xy_m, _ = measured
    assert (all_rows(rounds).xy_m == xy_m).all()
