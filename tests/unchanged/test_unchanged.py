"""The same settings and seed give the same figures as on the day they were recorded.

To the bit where libraries and processor are those of the recording; elsewhere figures that follow
the weights smoothly are nearly the same, and counts are the same.
"""

import pytest

from tests.unchanged.comparing import changes, load_recorded, message
from tests.unchanged.fingerprint import fingerprint, what_differs
from tests.unchanged.runs import RUNS, Workshop, figures_of

RECORDED = load_recorded()
OTHER = what_differs(RECORDED["made_with"], fingerprint())
HOW = "nearly" if OTHER else "to the bit"


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("unchanged"))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run}, {HOW}")
def test_a_run_gives_what_was_recorded(run, work):
    changed = changes(RECORDED["runs"][run], figures_of(work, run), exact=not OTHER)
    assert not changed, message(run, changed)


def test_bits_are_compared():
    if OTHER:
        pytest.skip(f"figures are compared nearly, for they were recorded with {'; '.join(OTHER)}")
    assert set(RECORDED["runs"]) == set(RUNS)
