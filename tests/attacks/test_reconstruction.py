import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import veilmap.attacks
from tests.attacks.worlds import make_header, silent
from veilmap.attacks.reconstruction import Cloud, Outcome, Reconstruction
from veilmap.errors import UserError

HEAVY = ("polars", "pyproj", "pydantic", "matplotlib", "safetensors")


@pytest.mark.processes
def test_no_attack_loads_what_a_bare_machine_lacks():
    room = Path(veilmap.attacks.__path__[0])
    modules = sorted(path.relative_to(room).with_suffix("") for path in room.rglob("[a-z]*.py"))
    imports = "; ".join(f"import veilmap.attacks.{'.'.join(name.parts)}" for name in modules)
    program = f"import sys; {imports}; print(*sorted(set({HEAVY}) & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == []
    assert len(modules) > 30


def test_the_mean_of_a_cloud_is_weighted():
    """(0, 0) at 3/4 and (4, 8) at 1/4 have their mean at (1, 2)."""
    cloud = Cloud(np.array([[0.0, 0.0], [4.0, 8.0]]), np.array([0.75, 0.25]))
    assert cloud.mean_m.tolist() == [1.0, 2.0]
    assert Cloud.at(np.array([3.0, 4.0])).mean_m.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("wrong", [(1, 2, 3), [[1, 2]], None, 5])
def test_what_is_not_one_location_is_refused(wrong):
    with pytest.raises(UserError, match=r"one location \(x, y\) in metres, got"):
        Reconstruction.of(silent(make_header()), wrong)


def test_a_result_carries_whose_update_it_was():
    header = make_header()
    observation = silent(header, user="b", t=7)
    found = Reconstruction.of(observation, np.array([1.0, 2.0]), cosine=0.5, seconds=0.1)
    assert (found.round, found.user, found.start_s, found.n) == (7, "b", 7000.0, 3)
    assert found.cloud.xy_m.tolist() == [[1.0, 2.0]]
    assert found.outcome == Outcome.SOLVED
    nothing = Reconstruction.nothing(observation)
    assert nothing.outcome == Outcome.NO_SIGNAL
    assert np.isnan(nothing.xy_m).all()
