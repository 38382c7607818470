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
