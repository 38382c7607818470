from veilmap.rounds import Split
from veilmap.shell import option_name, option_words
from veilmap.study.settings import Task


def test_units_belong_to_the_code():
    names = [
        "max_accuracy_m",
        "burst_gap_s",
        "label_offset_dbm",
        "max_rmse_loss_db",
        "seed",
        "lat_",
    ]
    assert list(map(option_name, names)) == [
        "max-accuracy",
        "burst-gap",
        "label-offset",
        "max-rmse-loss",
        "seed",
        "lat",
    ]


def test_only_what_differs_is_written():
    assert list(option_words(Split(), Split())) == []
    task = Task(label_offset_dbm=-90.0, area=(-1.0, 2.0, 3.0, 4.0))
    assert list(option_words(task, Task())) == [
        "--area", "-1.0", "2.0", "3.0", "4.0", "--label-offset=-90.0",
    ]  # fmt: skip
