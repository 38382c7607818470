import hashlib
from dataclasses import replace

import polars as pl

from tests.conftest import make_measurements


def test_the_fingerprint_is_that_of_the_values_one_after_the_other():
    """Names of several bytes a letter: their lengths keep 'a', 'bc' apart from 'ab', 'c'."""
    data = make_measurements(30, users=3)
    names = {"u0": "é", "u1": "", "u2": "abc"}
    data = replace(data, table=data.table.with_columns(pl.col("user").replace_strict(names)))
    expected = hashlib.sha256()
    for name in ("user", "cell"):
        texts = [text.encode() for text in data.table[name]]
        lengths = pl.Series([len(text) for text in texts], dtype=pl.UInt32).to_numpy()
        expected.update(lengths.tobytes() + b"".join(texts))
    for name in ("time", "lat_deg", "lon_deg", "rsrp_dbm"):
        expected.update(data.table[name].to_physical().to_numpy().tobytes())
    assert data.fingerprint == expected.hexdigest()
