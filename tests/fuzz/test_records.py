import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.edits import apply, edits
from tests.fuzz.guard import FORM, read_or_refuse
from tests.fuzz.records import RECORDS


@pytest.fixture
def path(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    RECORDS[name].beside(file.parent)
    return file


@pytest.mark.parametrize("name", RECORDS)
def test_a_sound_record_is_read(path, name):
    record = RECORDS[name]
    path.write_bytes(record.pack(record.inside))
    record.read(path)


@pytest.mark.parametrize("name", RECORDS)
def test_a_damaged_record_is_read_or_refused_in_a_sentence(path, name):
    record = RECORDS[name]

    @FORM
    @given(edits, st.booleans())
    def one(wanted, inside):
        if inside:
            content = record.pack(apply(record.inside, wanted))
        else:
            content = apply(record.pack(record.inside), wanted)
        path.write_bytes(content)
        read_or_refuse(record.read, path)

    one()
