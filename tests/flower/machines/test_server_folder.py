import pytest
from flwr.cli.flower_config import read_superlink_connection

from veilmap.errors import UserError
from veilmap.flower.machines.ports import Address
from veilmap.flower.machines.server_folder import ServerFolder


def test_the_operator_finds_the_superlink_where_it_listens(tmp_path):
    folder = ServerFolder(tmp_path)
    folder.prepare(1234)
    assert folder.superlink() == Address("127.0.0.1", 1234)


def test_flowers_own_commands_find_it_too(tmp_path, monkeypatch):
    folder = ServerFolder(tmp_path)
    folder.prepare(1234)
    monkeypatch.setenv("FLWR_HOME", str(folder.flower_home))
    connection = read_superlink_connection()
    assert connection.address == "127.0.0.1:1234"
    assert connection.root_certificates == str(folder.certificates.ca)
    assert not connection.insecure


def test_a_second_start_keeps_the_secret_and_the_database(tmp_path):
    folder = ServerFolder(tmp_path)
    folder.prepare(1234)
    secret = folder.secret.read_bytes()
    folder.database.write_bytes(b"kept")
    folder.prepare(1235)
    assert (folder.secret.read_bytes(), folder.database.read_bytes()) == (secret, b"kept")
    assert folder.superlink().port == 1235


def test_only_the_owner_reads_the_secret_and_the_updates_in_flight(tmp_path):
    folder = ServerFolder(tmp_path)
    folder.prepare(1234)
    modes = {path.stat().st_mode & 0o777 for path in (folder.secret, folder.database)}
    assert modes == {0o600}


def test_a_folder_without_a_server_is_said_with_the_way_out(tmp_path):
    with pytest.raises(UserError, match=r"holds no server; start one with: veilmap flower serve"):
        ServerFolder(tmp_path).superlink()
