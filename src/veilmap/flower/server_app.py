"""The Flower app of the server: runs a campaign's remaining rounds."""

import json
from collections.abc import Callable
from pathlib import Path

from flwr.app import ArrayRecord, Context
from flwr.serverapp import Grid, ServerApp

from veilmap.errors import UserError, shown
from veilmap.federation.evaluation import Evaluation
from veilmap.flower.campaign import Campaign
from veilmap.flower.journal import Journal
from veilmap.flower.machines.private_files import held_privately
from veilmap.flower.strategy import Assignment, SignalMapStrategy
from veilmap.flower.sum_strategy import SecureStrategy
from veilmap.rounds import pooled
from veilmap.settings import parse
from veilmap.sources.reader import read
from veilmap.study.prepare import Prepared

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Run the remaining rounds and complete the run."""
    assignment = parse(Assignment, context.run_config, "the run's configuration")
    campaign = Campaign.of_text(assignment.campaign)
    names, test = names_in(Path(assignment.names)), _test(campaign, assignment.test)
    carry_out(assignment, grid, names, test)


def carry_out(
    assignment: Assignment,
    grid: Grid,
    name_of: Callable[[int], str],
    test: Evaluation | None = None,
    simulated: Prepared | None = None,
) -> Journal:
    """The same for any grid; ``simulated`` is for the journal of a simulation."""
    campaign, out = Campaign.of_text(assignment.campaign), Path(assignment.out)
    # A command that lost its terminal may still have its run going.
    with held_privately(out, "run of veilmap"):
        journal = Journal(out, campaign, simulated)
        kind = SecureStrategy if campaign.secure_aggregation else SignalMapStrategy
        kind(journal, assignment, name_of, test).start(
            grid,
            ArrayRecord(),  # the strategy takes the map from the journal
            num_rounds=campaign.rounds - journal.done,
            timeout=assignment.timeout_s,
        )
        journal.finish()
    return journal


def names_in(file: Path) -> Callable[[int], str]:
    """Node → the name that the operator gave it; its number if it has none."""

    def name_of(node: int) -> str:
        # Read every time, since nodes can be admitted during a run.
        names = json.loads(file.read_bytes()) if file.is_file() else {}
        return str(names.get(str(node), node))

    return name_of


def _test(campaign: Campaign, file: str) -> Evaluation | None:
    if not file:
        return None
    data = read(file)
    if campaign.cell not in data.cells:
        raise UserError(
            f"{file} has no measurement of cell {shown(campaign.cell)}; leave out --test"
        )
    placed = data.of_cell(campaign.cell).projected(campaign.projection)
    return Evaluation(campaign.servers_plan, pooled(placed))
