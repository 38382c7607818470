import logging

import pytest


@pytest.fixture(autouse=True)
def quiet_flower():
    """Flower logs every round to the terminal."""
    logger = logging.getLogger("flwr")
    before = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(before)


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    """A server and three nodes as processes, shared by the tests of a file."""
    from tests.flower.federation import running

    with running(tmp_path_factory.mktemp("federation")) as made:
        yield made
