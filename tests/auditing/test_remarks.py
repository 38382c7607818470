import polars as pl

from tests.auditing.making import TINY, make_data
from veilmap.auditing.audit import audit
from veilmap.measurements import Measurements

ONE = {**TINY, "seeds": 1, "configurations": ("fedavg",), "method": ("first_layer",)}


def test_refused_updates_and_a_signal_without_a_map_are_said_in_the_audit(tmp_path):
    data = make_data(users=3)
    columns = ("user", "cell", "time", "lat_deg", "lon_deg", "rsrp_dbm", "accuracy_m")
    flat = data.table.select(columns).with_columns(rsrp_dbm=pl.lit(-90.0))
    found = audit(
        Measurements.of(flat), out=tmp_path / "out", jobs=1, broken=["u1=nan"], target="u0", **ONE
    )
    rounds = len({line.attacked.round for line in found.content.history})
    told = " ".join(found.verdict.sentences)
    assert "The signal is the same in all measurements of the cell: a constant is exact" in told
    assert f"Updates were refused, and the rounds went on without them: fedavg ({rounds})." in told


def test_an_audit_of_honest_phones_and_varied_data_has_no_such_remark(tmp_path):
    told = " ".join(audit(make_data(), out=tmp_path / "out", jobs=1, **ONE).verdict.sentences)
    assert "refused" not in told
    assert "no map to learn" not in told
