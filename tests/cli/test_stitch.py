import pytest

from tests.cli.test_cli import run
from tests.sources import fakes
from veilmap.sources import london
from veilmap.sources.radiocells_xml import write_upload_files
from veilmap.sources.reader import read


@pytest.fixture(scope="module")
def uploads_zip(tmp_path_factory):
    """London's upload files as Radiocells XML."""
    path = tmp_path_factory.mktemp("uploads") / "london.zip"
    write_upload_files(london.uploads(0), path, timezone=london.TIMEZONE)
    return path


def test_stitch_prints_the_counts_and_writes_what_simulate_writes(capsys, uploads_zip, tmp_path):
    users = tmp_path / "users.parquet"
    out, _ = run(capsys, "stitch", uploads_zip, "--timezone", london.TIMEZONE, "--out", users)
    assert "1,351 upload files, 933 candidates, 5 kept, 1,059 files in background user 0\n" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["3", "234-10-455", "74", "26"] in [line[:4] for line in lines]
    expected, found = london.simulate(0).of_cell("x455"), read(users)
    assert found.table.drop("cell", "x_m", "y_m").equals(expected.table.drop("cell", "x_m", "y_m"))
    assert found.timezone == "Europe/London"


def test_stitch_takes_its_options(capsys, uploads_zip, tmp_path):
    options = ["--cell", "456", "--distance", "0", "--min-weeks", "3", "--min-per-week", "9"]
    out, _ = run(capsys, "stitch", uploads_zip, "--out", tmp_path / "users.parquet", *options)
    warning, out = out.split("\n", 1)
    assert warning == "times of Radiocells files are local and were read as UTC; give --timezone"
    files, candidates = (line.split()[0] for line in out.split(", ")[:2])
    assert files == candidates
    assert "no candidate is kept; lower --min-weeks or --min-per-week" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["london", "--out", "users.csv"], "name the file users.parquet"),
        (["london", "--out", "users.parquet"], "does not say which upload file a row is from"),
        (["london", "--out", "u.parquet", "--distance", "-5"], "distance_m must be at least 0"),
        (["nothing.zip", "--out", "users.parquet"], "there is no file 'nothing.zip'"),
    ],
)
def test_a_mistake_is_one_line(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    _, err = run(capsys, "stitch", *arguments, code=2)
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_simulate_writes_london_as_parquet_zip_and_folder(capsys, tmp_path, monkeypatch):
    out, _ = run(capsys, "simulate", "london", "--out", tmp_path / "london.parquet")
    assert "of 6 users in 49 cells" in out
    assert read(tmp_path / "london.parquet").cells[0] == "x455"
    few = london.uploads(7).head(300)
    monkeypatch.setattr(london, "uploads", {7: few}.__getitem__)
    for place in ("london.zip", "london"):
        out, _ = run(capsys, "simulate", "london", "--seed", "7", "--out", tmp_path / place)
        assert f"{few['file'].n_unique()} upload files with 300 measurements" in out
    assert {path.name for path in (tmp_path / "london").iterdir()} == set(few["file"])


def test_stitch_refuses_its_own_output_among_the_uploads(capsys, tmp_path):
    few = london.uploads(0).head(200)
    write_upload_files(few, tmp_path / "up", timezone=london.TIMEZONE)
    arguments = ["stitch", tmp_path / "up", "--timezone", london.TIMEZONE]
    run(capsys, *arguments, "--out", tmp_path / "up" / "users.parquet")
    _, err = run(capsys, *arguments, "--out", tmp_path / "more.parquet", code=2)
    assert "up holds Parquet files, which are not upload files; give those alone" in err


def test_stitch_says_where_no_device_is_known(capsys, tmp_path):
    fakes.write(tmp_path / "up" / "a.csv", fakes.opencellid(40))
    out, _ = run(capsys, "stitch", tmp_path / "up", "--out", tmp_path / "u.parquet")
    assert "OpenCelliD files have no device information: users are distinguished by" in out


@pytest.mark.parametrize(
    "arguments",
    [["simulate", "campus", "--days", "1"], ["simulate", "london"], ["stitch", "x.zip"]],
)
def test_what_is_there_is_replaced_only_on_demand(capsys, tmp_path, arguments):
    taken = fakes.write(tmp_path / "a.parquet", b"mine")
    _, err = run(capsys, *arguments, "--out", taken, code=2)
    assert "a.parquet already exists; choose another --out or add --overwrite" in err
    assert taken.read_text() == "mine"


def test_overwrite_replaces(capsys, tmp_path):
    taken = fakes.write(tmp_path / "a.parquet", b"mine")
    run(capsys, "simulate", "campus", "--days", "2", "--overwrite", "--out", taken)
    assert read(taken).users


@pytest.mark.parametrize(
    ("world", "name", "message"),
    [
        ("campus", "c.zip", "simulate campus writes Parquet; name the file c.parquet"),
        ("london", "l.csv", "or upload files to a .zip or a folder; name the file l.parquet"),
    ],
)
def test_simulate_says_what_it_writes(capsys, tmp_path, monkeypatch, world, name, message):
    monkeypatch.chdir(tmp_path)
    assert message in run(capsys, "simulate", world, "--out", name, code=2)[1]
