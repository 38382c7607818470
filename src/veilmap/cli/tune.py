"""``veilmap tune``."""

import shlex
from pathlib import Path

from veilmap.cli.console import progress, say
from veilmap.cli.data import read_and_say
from veilmap.cli.file_options import FileOptions
from veilmap.cli.options import NetworkTaskOptions, TestOptions, TrainingOptions
from veilmap.errors import UserError, refuse, too_low
from veilmap.federation.plan import Training
from veilmap.files import write_whole
from veilmap.model.network import Initialisation, Network
from veilmap.output import held_file
from veilmap.rounds import Split
from veilmap.study.settings import NetworkTask, RunSettings
from veilmap.study.tune import tune
from veilmap.wording import counted


def tune_(
    data: str = "campus",
    *,
    out: Path = Path("tuned.toml"),
    trials: int = 60,
    initialisation: Initialisation = "glorot",
    config: Path | None = None,
    task: NetworkTaskOptions = NetworkTask(),
    training: TrainingOptions = Training(),
    test: TestOptions = Split(),
    source: FileOptions = FileOptions(),
) -> None:
    """Find depth, widths, activations, dropout and learning rate for a cell, by Hyperband.

    Every trial is a federated run with the given T, B and E; bad ones are stopped early. RMSE is
    measured on a part of the training data, so the test data of "train" stay unseen. Finished
    trials are kept beside the result: rerun the command to resume. The learning rate is searched,
    so --learning-rate has no effect here.

    Args:
        data: a measurement file, a folder or archive of them, or a simulated world:
            campus or london.
        out: the settings file to write, for "veilmap train --model".
        trials: the total number of trials.
        initialisation: initialisation of the networks' weights.
        config: settings file (TOML); options on the command line override it.
    """
    refuse(too_low(1, trials=trials))
    if out.is_dir():
        raise UserError(f"{out} is a folder; name a file for --out, such as {out / 'tuned.toml'}")
    measurements = read_and_say(data, source.columns, source.reading)
    journal = out.with_name(out.name + ".journal")
    with progress() as bar:
        job = bar.add_task("tuning", total=trials)

        def on_trial(number: int, rmse_db: float | None, best_db: float) -> None:
            reached = "stopped early" if rmse_db is None else f"{rmse_db:.2f} dB"
            say(f"trial {number:4d}   {reached:14s}   best {best_db:.2f} dB")
            bar.update(job, completed=number)

        model = Network(initialisation=initialisation)
        settings = RunSettings(task, test, model=model, training=training)
        tuned = tune(measurements, settings, trials=trials, journal=journal, on_trial=on_trial)
    with held_file(out):
        write_whole(out, tuned.as_toml().encode())
    say(f"\nbest of {counted(tuned.trials, 'trial')} ({tuned.pruned} stopped early):\n")
    say(tuned.as_toml())
    say(
        f"written to {out}; use it, with the same options for columns and reading, with: "
        f"veilmap train {shlex.quote(data)} --model {shlex.quote(str(out))}"
    )
