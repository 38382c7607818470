"""What a run writes to the server's disk, complete after every round."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from veilmap.errors import UserError, shown
from veilmap.federation import verbs
from veilmap.federation.map_family import WEIGHTS, Arrays
from veilmap.federation.observation import Observation
from veilmap.files import PRIVATE, remove, write_whole
from veilmap.flower.campaign import Campaign
from veilmap.flower.disclosure import what_the_server_sees
from veilmap.model.network import Floats
from veilmap.settings import load_json, parse
from veilmap.signal_map.signal_map import SignalMap
from veilmap.study.prepare import Prepared
from veilmap.study.results import result_row, results, settings_record, versions
from veilmap.study.run_folder import RunFolder
from veilmap.transcript import TranscriptWriter

CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class RoundOutcome:
    """One line of a run's history.

    Attributes:
        round: t.
        start_s: when the round began.
        asked: number of nodes that were asked.
        users: users whose updates were accepted.
        n: n_t, the points of all users together; of a kriging map the squares that they named.
        left_out: the reason for each user whose update was not accepted.
        rmse_db: RMSE on the server's own test measurements, if it has any.
        seconds: time from the first request to the new map.
    """

    round: int
    start_s: float
    asked: int
    users: tuple[str, ...]
    n: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    rmse_db: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class _Checkpoint:
    """The facts in a checkpoint; its tensors are the map's state after the last of the rounds."""

    campaign: str
    history: tuple[RoundOutcome, ...]


class Journal:
    """The run folder of one campaign; an interrupted run resumes from it.

    A simulation knows more than a server: its header and settings are those of a run in one
    process, of what is ``simulated``.
    """

    def __init__(self, out: Path, campaign: Campaign, simulated: Prepared | None = None) -> None:
        self._folder, self.campaign = RunFolder(out), campaign
        self._header = simulated.header if simulated else campaign.header
        own = {"campaign": campaign.record, "versions": versions()}
        self._settings = settings_record(simulated) if simulated else own
        self._folder.refuse_finished(way_out="")
        self._file = out / CHECKPOINT
        if self._file.exists():
            self.history, self.state = self._resumed()
        else:
            self._folder.clear()
            self.history, self.state = (), verbs.start(campaign.servers_plan)
        self._writer = TranscriptWriter(self._folder.transcript, self._header, self.done)

    @property
    def done(self) -> int:
        """The number of finished rounds on the disk."""
        return self.history[-1].round if self.history else 0

    @property
    def weights(self) -> Floats:
        """w_t, of maps that have weights."""
        return self.state[WEIGHTS]

    def end_round(self, outcome: RoundOutcome, state: Arrays, seen: Sequence[Observation]) -> None:
        """Write the transcript first: a round missing from the checkpoint is written again."""
        for observation in seen:
            self._writer.see(observation)
        self._writer.end_round()
        self.history, self.state = (*self.history, outcome), state
        facts = json.dumps(asdict(_Checkpoint(self.campaign.text, self.history)))
        write_whole(self._file, save(dict(state), {"checkpoint": facts}), PRIVATE)

    def finish(self) -> None:
        """Complete the run, so that ``veilmap map`` and ``veilmap attack`` can read it."""
        self._folder.write(SignalMap(self.campaign.map_facts, self.state), self._results())
        remove([self._file])

    def _results(self) -> dict[str, Any]:
        last = self.history[-1]
        row = result_row(
            self._header.configuration,
            self.campaign.seed,
            rounds=len(self.history),
            rmse_db=last.rmse_db,
            seconds=sum(outcome.seconds for outcome in self.history),
        )
        history = [asdict(outcome) for outcome in self.history]
        content = results(self._settings, [row], history)
        return {**content, "server_sees": list(what_the_server_sees(self.campaign))}

    def _resumed(self) -> tuple[tuple[RoundOutcome, ...], Arrays]:
        kept, state = _read(self._file)
        if kept.campaign != self.campaign.text:
            raise UserError(
                f"{self._file.parent} holds the unfinished run of another campaign; choose "
                "another --out, or repeat that campaign's options to resume it"
            )
        known = verbs.start(self.campaign.servers_plan)
        if _kinds(state) != _kinds(known):
            raise UserError(
                f"{self._file} is not a checkpoint: it holds arrays {_kinds(state)}, and the map "
                f"has {_kinds(known)}; remove it"
            )
        return kept.history, state


def _kinds(state: Arrays) -> dict[str, str]:
    return {name: f"{each.dtype}{list(each.shape)}" for name, each in sorted(state.items())}


def finished_rounds(out: Path) -> int:
    """How many rounds of an unfinished run are on the disk."""
    if not (out / CHECKPOINT).exists():
        return 0
    return len(_read(out / CHECKPOINT)[0].history)


def _read(file: Path) -> tuple[_Checkpoint, Arrays]:
    try:
        with safe_open(file, framework="numpy") as content:
            text = (content.metadata() or {})["checkpoint"]
            state = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118 - it is no dictionary
    except (SafetensorError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UserError(f"{file} is not a checkpoint ({shown(error)}); remove it") from None
    facts = load_json(text, f"{file} is not a checkpoint", "remove it")
    return parse(_Checkpoint, facts, f"{file} is not a checkpoint"), state
