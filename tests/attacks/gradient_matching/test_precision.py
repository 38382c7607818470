"""Where float32 decides what is found: in the update that was sent, not in the attack."""

from dataclasses import replace

import numpy as np
import pytest

from tests.attacks.worlds import FEDSGD, around, make_header, observe, off_m, paper_network
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.federation.map_family import WEIGHTS
from veilmap.model.reference import gradient

BATCH = around((0.7, 0.3), 60)


def apart_m(method, rate):
    """Between what is found in an update as sent, and in the same step without any rounding."""
    header = make_header(paper_network("glorot"), replace(FEDSGD, learning_rate=rate))
    sent = observe(header, BATCH)
    known = header.side_knowledge
    batch = known.scaler.standardise(BATCH.xy_m).astype(float), BATCH.rsrp_dbm.astype(float)
    before = sent.weights_before.astype(float)
    exact = before - rate * gradient(header.network, before, batch)
    found = [
        method.attack(AttackInput(header, [replace(sent, message={WEIGHTS: after})]))[0].xy_m
        for after in (sent.weights_after, exact)
    ]
    return off_m(*found)


@pytest.mark.parametrize(
    "method",
    [FirstLayer(), Search(), Heatmap(grid_cells=60, finest_m=150.0)],
    ids=lambda m: type(m).__name__,
)
def test_at_the_papers_rate_float32_moves_no_location(method):
    assert apart_m(method, 1e-3) < 0.5


def test_at_a_tiny_rate_float32_hides_the_step_of_all_weights_but_those_that_began_at_zero():
    """Weights of 0.1 are 1e-8 apart in float32; the biases of glorot begin at 0."""
    assert apart_m(Search(), 1e-7) > 100
    assert apart_m(FirstLayer(), 1e-7) < 20


def test_slopes_in_single_precision_lead_dlg_to_the_same_place():
    header = make_header(paper_network("glorot"))
    sent = observe(header, BATCH)
    single, double = (
        Dlg(max_iterations=60, learning_rate=0.08, precision=name)
        .attack(AttackInput(header, [sent]))[0]
        .xy_m
        for name in ("single", "double")
    )
    assert off_m(single, double) < 0.1
    assert np.isfinite(single).all()
