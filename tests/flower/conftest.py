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


@pytest.fixture(autouse=True)
def _a_task_of_its_own(monkeypatch):
    """Flower keeps in the process whose messages it makes; no test must live on another's."""
    from flwr.supercore.task_identity import TaskIdentity

    for name, value in (("run_id", 1), ("task_id", 1), ("node_id", 0)):
        monkeypatch.setattr(TaskIdentity, f"_{name}", value)


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    """A server and three nodes as processes, shared by the tests of a file."""
    from tests.flower.federation import running

    with running(tmp_path_factory.mktemp("federation")) as made:
        yield made
