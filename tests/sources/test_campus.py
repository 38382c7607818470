from veilmap.sources import campus
from veilmap.sources.campus import Campus


def test_the_same_seed_gives_the_same_world_and_another_another(small_campus):
    world = Campus(users=3, days=14, cells=4, logging_share=0.2)
    assert campus.simulate(0, world).fingerprint == small_campus.fingerprint
    assert campus.simulate(1, world).fingerprint != small_campus.fingerprint


def test_the_default_world_has_the_scale_of_the_papers_campus():
    """7 users, 25 cells, 169,295 measurements, about 3 km²; the exact match is not claimed."""
    data = campus.simulate()
    assert (len(data.users), len(data.cells)) == (7, 25)
    assert 150_000 < len(data) < 200_000
    width_m = data.table["x_m"].max() - data.table["x_m"].min()
    height_m = data.table["y_m"].max() - data.table["y_m"].min()
    assert 2e6 < width_m * height_m < 4e6
