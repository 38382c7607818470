from veilmap.streams import stream


def test_the_same_name_gives_the_same_numbers():
    assert (
        stream(1, "dropout", "u", 3).random(5).tolist()
        == stream(1, "dropout", "u", 3).random(5).tolist()
    )


def test_another_name_or_seed_gives_other_numbers():
    draws = {
        tuple(stream(*names).random(3))
        for names in [(1, "a", 1), (1, "a", 2), (1, "b", 1), (2, "a", 1), (1, "a", "1"), (1, "a")]
    }
    assert len(draws) == 6


def test_numpy_integers_name_the_same_stream():
    import numpy as np

    assert stream(0, "x", np.int64(7)).random() == stream(0, "x", 7).random()
