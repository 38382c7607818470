import pytest

from veilmap.auditing.redaction import (
    command_without_places,
    errors_without_names,
    read_without_places,
    run_without_places,
    without_names,
    without_places,
)
from veilmap.auditing.settings import AuditSettings
from veilmap.errors import UserError

USERS = ("ann", "annabel", "3")
BOX = (-0.2, 51.4, 0.1, 51.6)


def test_no_place_stays_in_the_settings():
    settings = AuditSettings.of(area=BOX, tower=(51.5, -0.1), cell="a")
    assert "51" not in str(without_places(settings)).replace("0.51", "")
    assert without_places(settings).task.cell == "a"
    assert run_without_places(settings.run).task.area is None
    assert read_without_places({"path": "a", "reading": {"box": BOX, "since": "2024"}}) == {
        "path": "a",
        "reading": {"since": "2024"},
    }


def test_a_message_names_no_user_and_keeps_its_other_words():
    told = without_names("user 'ann' sent nothing; choose one of: annabel, 3 (round 13)", USERS)
    assert told == "user '…' sent nothing; choose one of: …, … (round 13)"


def test_an_error_names_no_user_and_hides_the_one_that_does():
    with pytest.raises(UserError) as caught, errors_without_names(USERS):
        raise UserError("user 'zoe' is unknown; choose one of: ann, annabel, 3")
    assert str(caught.value) == "user 'zoe' is unknown; choose one of: …, …, …"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_no_place_stays_in_the_command():
    command = "veilmap audit 'a b' --area -0.2 51.4 0.1 51.6 --seeds 2 --tower=51.5 -0.1 --redact"
    assert command_without_places(command) == "veilmap audit 'a b' --seeds 2 --redact"
