"""Points as the rows (x, y, label) that a generator reads and writes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.area import Area
from veilmap.local_data import LocalData, Scaler


@dataclass(frozen=True)
class RecordScale:
    """Standardised positions and labels: ``(rsrp_dbm - label_mean_dbm) / label_scale_db``."""

    scaler: Scaler
    label_mean_dbm: float
    label_scale_db: float

    @classmethod
    def fitted(cls, people: Sequence[LocalData], scaler: Scaler) -> "RecordScale":
        """Public for positions; mean and spread of all labels, or 1 dB where all are equal."""
        labels_dbm = np.concatenate([data.rsrp_dbm for data in people])
        # The spread of equal labels need not round to 0, but their range does.
        spread_db = labels_dbm.std() if np.ptp(labels_dbm) > 0 else 1.0
        return cls(scaler, float(labels_dbm.mean()), float(spread_db))

    def records(self, data: LocalData) -> Tensor:
        """Rows in float32."""
        labels = (data.rsrp_dbm - self.label_mean_dbm) / self.label_scale_db
        return torch.from_numpy(
            np.column_stack([self.scaler.standardise(data.xy_m), labels.astype(np.float32)])
        )

    def points(self, records: Tensor, time_s: NDArray[np.float64], area: Area) -> LocalData:
        """Rows back to points; the rounding of float32 does not carry any out of the area."""
        rows = records.numpy().astype(np.float64)
        xy_m = area.nearest_inside(self.scaler.metres(rows[:, :2]))
        return LocalData(xy_m, rows[:, 2] * self.label_scale_db + self.label_mean_dbm, time_s)
