import pytest

from tests.cli.test_cli import SMALL, run
from tests.conftest import make_measurements


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowd") / "crowd.parquet"
    make_measurements(rows=360, users=3).write_parquet(path)
    return path


def test_refused_updates_are_reported_in_their_round_and_at_the_end(capsys, crowd):
    out, _ = run(capsys, "train", crowd, *SMALL, "--broken", "u0=nan", "u2=flipped")
    assert "simulated: u0=nan, u2=flipped" in out
    rounds = [line for line in out.splitlines() if line.startswith("round ")]
    assert all("  2 users" in line and line.endswith("   1 refused") for line in rounds)
    assert f"{len(rounds)} updates of 1 user refused; the rounds went on" in out
    assert f"user u0, in {len(rounds)} of {len(rounds)} rounds: numbers that are not fini" in out
    assert "updates of the broken phones of u2 were accepted; --most-norm refuses long" in out


def test_an_honest_run_says_nothing_of_it(capsys, crowd):
    out, _ = run(capsys, "train", crowd, *SMALL, "--most-norm", "1000")
    assert "refused" not in out
    assert "broken" not in out


def test_a_share_of_less_than_one_user_trims_no_user_and_says_so(capsys, crowd):
    out, _ = run(capsys, "train", crowd, *SMALL, "--aggregation", "trimmed")
    assert "trimmed mean of the updates" in " ".join(out.split())
    assert (
        "no update was trimmed in 3 of 3 rounds: a share of 0.2 leaves out less than one sender"
        in out
    )
    share = ["--aggregation", "trimmed", "--trimmed-share", "0.34"]
    assert "no update was trimmed" not in run(capsys, "train", crowd, *SMALL, *share)[0]


def test_a_run_of_which_everything_was_refused_says_so(capsys, crowd):
    out, _ = run(capsys, "train", crowd, *SMALL, "--most-norm", "1e-9")
    assert "no update was accepted, and the map is untrained" in out
