import pytest

from veilmap.errors import UserError
from veilmap.sweeping.spec import Data, Runs, merged, read_spec

SMALLEST = '[[runs]]\nname = "all"\n'


def spec_of(tmp_path, text, common=None):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return read_spec(path, common)


def refused(tmp_path, text):
    with pytest.raises(UserError) as caught:
        spec_of(tmp_path, text)
    return str(caught.value)


def test_the_smallest_spec_is_one_run_named_after_its_file(tmp_path):
    spec = spec_of(tmp_path, SMALLEST)
    assert (spec.label, spec.title, spec.data) == ("mine", "mine", Data())
    assert spec.runs == (Runs("all"),)
    assert spec.claims == spec.pictures == spec.numbers == ()


def test_a_whole_spec_is_read(tmp_path):
    spec = spec_of(
        tmp_path,
        """
        label = "fig:a"
        title = "A"
        about = "b"
        numbers = [{ name = "all", emd = 5.3 }]
        [data]
        source = "london"
        similar = ["1", "2"]
        [[runs]]
        name = "all"
        keep = ["found"]
        over.eps_m = [0.1, 1]
        over.T.week = { interval = "1w" }
        [[claims]]
        says = "it is"
        kind = "at_most"
        figure = "emd"
        where = {}
        bound = 6
        [[pictures]]
        kind = "path"
        """,
    )
    assert (spec.label, spec.title, spec.about) == ("fig:a", "A", "b")
    assert spec.data == Data("london", similar=("1", "2"))
    assert spec.runs[0].over == {"eps_m": [0.1, 1], "T": {"week": {"interval": "1w"}}}
    assert spec.numbers == ({"name": "all", "emd": 5.3},)
    assert [claim.says for claim in spec.claims] == ["it is"]
    assert len(spec.pictures) == 1


def test_the_settings_of_the_file_go_over_the_common_ones_and_those_of_a_part_over_both(tmp_path):
    common = {"settings": {"seed": 1, "interval": "1w", "epochs": 2}, "data": {"cell": "x1"}}
    text = """
        [data]
        target = "0"
        [settings]
        interval = "1d"
        [[runs]]
        name = "a"
        settings.epochs = 5
        [[runs]]
        name = "b"
        attacks.every = 3
        """
    spec = spec_of(tmp_path, text, common)
    a, b = spec.runs
    assert a.settings == {"seed": 1, "interval": "1d", "epochs": 5}
    assert b.settings == {"seed": 1, "interval": "1d", "epochs": 2}
    assert (a.attacks, b.attacks) == ({}, {"every": 3})
    assert spec.data == Data(cell="x1", target="0")


def test_merged_goes_table_by_table_and_changes_neither():
    below, above = {"a": {"x": 1, "y": [1, 2]}, "b": 1}, {"a": {"y": [3]}, "c": 2}
    assert merged(below, above) == {"a": {"x": 1, "y": [3]}, "b": 1, "c": 2}
    assert (below, above) == ({"a": {"x": 1, "y": [1, 2]}, "b": 1}, {"a": {"y": [3]}, "c": 2})
    assert merged({"a": {"x": 1}}, {"a": 2}) == {"a": 2}
    assert merged({"a": 2}, {"a": {"x": 1}}) == {"a": {"x": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("titel = 'a'\n" + SMALLEST, "mine.toml: unknown setting 'titel'; did you mean 'title'?"),
        ("[data]\ncel = 'x'\n" + SMALLEST, "'data.cel'; did you mean 'data.cell'?"),
        (SMALLEST + "uses = ['all']\n", "unknown setting 'uses'; did you mean 'users'?"),
        (SMALLEST + "keep = ['founds']\n", "'founds'"),
        (SMALLEST + "measures = 'atack'\n", "'atack'"),
        (SMALLEST + "over.eps_m = 5\n", "over.eps_m"),
    ],
)
def test_what_is_not_known_is_named(tmp_path, text, message):
    assert message in refused(tmp_path, text)


def test_all_faults_are_reported_at_once(tmp_path):
    said = refused(
        tmp_path,
        """
        [[runs]]
        name = "a"
        over.eps_m = []
        times = 0
        only_round = 0
        [[runs]]
        name = ""
        [[claims]]
        says = "it is"
        kind = "abov"
        [[claims]]
        says = "so it is"
        kind = "same"
        figur = "emd"
        [[pictures]]
        kind = "line"
        """,
    )
    for part in (
        "runs.over.eps_m is empty",
        "runs.times must be at least 1, got 0",
        "runs.only_round must be at least 1, got 0",
        "runs.name is empty",
        "unknown kind of claim 'abov'",
        "did you mean 'figure'?",
        "unknown kind of picture 'line'",
    ):
        assert part in said
    assert said.count("mine.toml: ") == 5


def test_a_file_without_runs_says_so(tmp_path):
    assert "mine.toml has no runs; add a table [[runs]]" in refused(tmp_path, "title = 'a'")


def test_a_table_in_a_list_has_no_name_to_be_shown(tmp_path):
    said = refused(tmp_path, SMALLEST + "over.T = [{ interval = '1w' }]\n")
    assert "runs.over.T has a table without a name" in said


def test_data_check_themselves():
    with pytest.raises(UserError, match=r"data\.cell_rank must be at least 1, got 0"):
        Data(cell_rank=0)
    with pytest.raises(UserError, match=r"data\.area_of is empty"):
        Data(area_of=())


def test_a_file_that_is_not_there_or_no_toml_says_so(tmp_path):
    with pytest.raises(UserError, match="cannot read"):
        read_spec(tmp_path / "none.toml")
    assert "mine.toml is not TOML" in refused(tmp_path, "= 3")
