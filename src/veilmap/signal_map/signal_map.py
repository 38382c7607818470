"""Position → RSRP in dBm for one cell: the model with its scaler, offset and area."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from veilmap.area import Area
from veilmap.errors import UserError, out_of_range, shown
from veilmap.files import PRIVATE, write_whole
from veilmap.geo import Projection
from veilmap.local_data import Scaler
from veilmap.model.network import Network
from veilmap.model.prediction import predict
from veilmap.settings import load_json, parse

SCHEMA = 1
_ANEW = "fetch it again, or train it again"


@dataclass(frozen=True)
class MapFacts:
    """The facts that turn a network into a map; stored beside the weights."""

    cell: str
    network: Network
    scaler: Scaler
    label_offset_dbm: float
    area: Area
    projection: Projection

    def __post_init__(self) -> None:
        if not np.isfinite(self.label_offset_dbm):
            raise out_of_range("label_offset_dbm", "a finite number", self.label_offset_dbm)


@dataclass(frozen=True)
class SignalMap:
    """The predicted signal strength of one cell over an area."""

    facts: MapFacts
    weights: NDArray[np.float32]

    def predict_dbm(self, xy_m: NDArray[np.float64]) -> NDArray[np.float32]:
        """RSRP at positions in metres of the map's projection."""
        facts = self.facts
        deviation = predict(facts.network, self.weights, facts.scaler.standardise(xy_m))
        return deviation + np.float32(facts.label_offset_dbm)

    def predict_at(
        self, lat_deg: NDArray[np.float64], lon_deg: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """RSRP at positions in degrees."""
        return self.predict_dbm(self.facts.projection.metres(lat_deg, lon_deg))

    def save(self, path: str | Path) -> None:
        """Write one safetensors file: tensor ``weights``, the facts as JSON in the metadata."""
        # The scaler and the area may be of the users' own positions.
        write_whole(Path(path), self.as_bytes(), PRIVATE)

    def as_bytes(self) -> bytes:
        """What ``save`` writes."""
        metadata = {"veilmap_model": json.dumps({"schema": SCHEMA, "facts": asdict(self.facts)})}
        return save({"weights": self.weights}, metadata)

    @classmethod
    def load(cls, path: str | Path) -> "SignalMap":
        """Read what ``save`` wrote."""
        try:
            with safe_open(path, framework="numpy") as file:
                text = (file.metadata() or {})["veilmap_model"]
                facts = _facts(load_json(text, f"{path} is not a veilmap model", _ANEW), path)
                _check(file.get_slice("weights"), facts, path)
                weights = file.get_tensor("weights")
        except FileNotFoundError:
            raise UserError(f"there is no model {path}; make one with: veilmap train") from None
        except (SafetensorError, KeyError, TypeError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise UserError(f"{path} is not a veilmap model ({reason}); {_ANEW}") from None
        if not np.isfinite(weights).all():
            raise UserError(f"{path} holds weights that are not finite; train it again")
        return cls(facts, weights)


def _check(declared: Any, facts: MapFacts, path: str | Path) -> None:
    """Check the size before reading: the header comes from outside."""
    shape, kind = declared.get_shape(), declared.get_dtype()
    if shape != [facts.network.size] or kind != "F32":
        raise UserError(
            f"{path} holds weights of shape {shape} and type {kind}, "
            f"but its network has {facts.network.size:,} of type F32; {_ANEW}"
        )


def _facts(content: Mapping[str, Any], path: str | Path) -> MapFacts:
    if content["schema"] != SCHEMA:
        raise UserError(
            f"{path} has schema {shown(content['schema'])}; this veilmap reads {SCHEMA}; {_ANEW}"
        )
    return parse(MapFacts, content["facts"], f"{path} is not a veilmap model")
