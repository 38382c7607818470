import pytest

from veilmap.model.threads import one_thread


@pytest.fixture(autouse=True)
def calm_threads():
    """Products this small gain nothing from threads, and lose much where cores are shared."""
    with one_thread():
        yield
