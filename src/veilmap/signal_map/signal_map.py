"""Position → RSRP in dBm for one cell: the model with all it needs to be used."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from veilmap.area import Area
from veilmap.errors import UserError, out_of_range, shown
from veilmap.federation import verbs
from veilmap.federation.map_family import WEIGHTS, Arrays, MapFamily, Prediction
from veilmap.files import PRIVATE, write_whole
from veilmap.geo import Projection
from veilmap.local_data import Scaler
from veilmap.maps.families import map_of_file, map_of_record, map_record
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Floats, Network
from veilmap.settings import load_json, parse

SCHEMA = 2
# The first had the paper's network alone, as facts.network.
_FIRST = 1
_WAY_OUT = "fetch it again, or train it again"


@dataclass(frozen=True)
class MapFacts:
    """The facts that turn a state into a map; stored beside its arrays."""

    cell: str
    map: Annotated[MapFamily, PlainValidator(map_of_record)]
    scaler: Scaler
    label_offset_dbm: float
    area: Area
    projection: Projection

    def __post_init__(self) -> None:
        if not np.isfinite(self.label_offset_dbm):
            raise out_of_range("label_offset_dbm", "a finite number", self.label_offset_dbm)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        others = replace(self, map=cast("MapFamily", None))
        return {**asdict(others), "map": map_record(self.map)}


@dataclass(frozen=True)
class SignalMap:
    """The predicted signal strength of one cell over an area."""

    facts: MapFacts
    state: Arrays

    @property
    def weights(self) -> Floats:
        """w_R, of families that send weights."""
        return self.state[WEIGHTS]

    def predict(self, xy_m: NDArray[np.float64]) -> Prediction:
        """RSRP and its uncertainty at positions in metres of the map's projection."""
        return verbs.predict(self.facts.map, self.facts, self.state, xy_m)

    def predict_dbm(self, xy_m: NDArray[np.float64]) -> NDArray[np.float32]:
        """RSRP alone."""
        return self.predict(xy_m).rsrp_dbm.astype(np.float32)

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
        facts = {"schema": SCHEMA, "facts": self.facts.as_dict()}
        return save(dict(self.state), {"veilmap_model": json.dumps(facts)})

    @classmethod
    def load(cls, path: str | Path, map: MapFamily | None = None) -> "SignalMap":
        """Read what ``save`` wrote; ``map`` is the family where no installed package has it."""
        try:
            with safe_open(path, framework="numpy") as file:
                text = (file.metadata() or {})["veilmap_model"]
                facts = _facts(load_json(text, f"{path} is not a veilmap model", _WAY_OUT), path)
                facts = replace(facts, map=map_of_file(facts.map, map))
                _check(file, facts, path)
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dictionary
        except FileNotFoundError:
            raise UserError(f"there is no model {path}; make one with: veilmap train") from None
        except (SafetensorError, KeyError, TypeError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise UserError(f"{path} is not a veilmap model ({reason}); {_WAY_OUT}") from None
        if not all(np.isfinite(values).all() for values in state.values()):
            raise UserError(f"{path} holds numbers that are not finite; train it again")
        family = facts.map
        if isinstance(family, KrigingMap) and (fault := family.state_fault(facts.area, state)):
            raise UserError(f"{path} holds {fault}; {_WAY_OUT}")
        return cls(facts, state)


def _check(file: Any, facts: MapFacts, path: str | Path) -> None:
    """Check the file before reading: the header comes from outside."""
    if not isinstance(facts.map, Network):
        return
    declared = file.get_slice(WEIGHTS)
    shape, kind = declared.get_shape(), declared.get_dtype()
    if shape != [facts.map.size] or kind != "F32":
        raise UserError(
            f"{path} holds weights of shape {shape} and type {kind}, "
            f"but its network has {facts.map.size:,} of type F32; {_WAY_OUT}"
        )


def _facts(content: Mapping[str, Any], path: str | Path) -> MapFacts:
    schema, damaged = content["schema"], f"{path} is not a veilmap model"
    if schema not in (_FIRST, SCHEMA):
        raise UserError(
            f"{path} has schema {shown(schema)}; this veilmap reads {_FIRST} and {SCHEMA}; "
            f"{_WAY_OUT}"
        )
    facts = dict(content["facts"])
    if schema == _FIRST:
        facts["map"] = {"name": NetworkMap.name, **facts.pop("network")}
    return parse(MapFacts, facts, damaged)
