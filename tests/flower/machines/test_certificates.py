import ssl
from datetime import UTC, datetime, timedelta

import pytest

from veilmap.errors import UserError
from veilmap.flower.machines.certificates import Certificates, obtain


def handshake(server: Certificates, trusted: Certificates, host: str) -> None:
    """A TLS handshake in memory, by the strictest rules that Python knows."""
    asked = ssl.create_default_context(cafile=trusted.ca)
    asked.verify_flags |= ssl.VERIFY_X509_STRICT
    asking = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    asking.load_cert_chain(server.server, server.server_key)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    node = asked.wrap_bio(back, there, server_hostname=host)
    machine = asking.wrap_bio(there, back, server_side=True)
    for _ in range(4):
        for end in (node, machine):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "maps.example", "192.0.2.7", "2001:db8::7"]
)
def test_a_node_with_the_ca_trusts_the_server_under_each_of_its_names(tmp_path, host):
    keys = obtain(tmp_path, ["maps.example", "192.0.2.7", "2001:db8::7"])
    handshake(keys, keys, host)


def test_a_node_does_not_trust_another_name(tmp_path):
    keys = obtain(tmp_path, ["maps.example"])
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        handshake(keys, keys, "maps.example.org")


def test_a_node_does_not_trust_a_server_of_another_ca(tmp_path):
    ours, other = obtain(tmp_path / "ours", []), obtain(tmp_path / "other", [])
    with pytest.raises(
        ssl.SSLCertVerificationError, match=r"self-signed|unable to get local|signature"
    ):
        handshake(other, ours, "localhost")


def test_only_the_owner_reads_the_private_keys(tmp_path):
    keys = obtain(tmp_path / "keys", [])
    assert [path.stat().st_mode & 0o777 for path in (keys.ca_key, keys.server_key)] == [0o600] * 2
    assert keys.folder.stat().st_mode & 0o777 == 0o700


def test_a_second_start_keeps_what_is_there(tmp_path):
    first = {path: path.read_bytes() for path in obtain(tmp_path, ["a.example"]).folder.iterdir()}
    obtain(tmp_path, ["a.example"])
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == first


def test_a_wanted_name_that_is_missing_is_said_with_the_way_out(tmp_path):
    obtain(tmp_path, [])
    with pytest.raises(
        UserError, match=r"not made out to b\.example; remove server\.pem and start"
    ):
        obtain(tmp_path, ["b.example"])


def test_a_new_server_certificate_needs_no_change_on_the_nodes(tmp_path):
    before = obtain(tmp_path, []).ca.read_bytes()
    (tmp_path / "server.pem").unlink()
    keys = obtain(tmp_path, ["b.example"])
    assert keys.ca.read_bytes() == before
    handshake(keys, keys, "b.example")


@pytest.mark.parametrize(
    ("days", "says"),
    [(397 - 29, "server.pem is valid until"), (3650 - 29, "ca.pem is valid until")],
)
def test_a_certificate_that_ends_within_a_month_is_refused(tmp_path, days, says):
    obtain(tmp_path, [])
    with pytest.raises(UserError, match=says):
        obtain(tmp_path, [], datetime.now(UTC) + timedelta(days=days))


def test_a_certificate_that_lasts_a_month_is_taken(tmp_path):
    obtain(tmp_path, [])
    obtain(tmp_path, [], datetime.now(UTC) + timedelta(days=397 - 31))


def test_a_server_certificate_does_not_outlive_its_ca(tmp_path):
    obtain(tmp_path, [])
    (tmp_path / "server.pem").unlink()
    late = datetime.now(UTC) + timedelta(days=3650 - 100)
    keys = obtain(tmp_path, [], late)
    with pytest.raises(UserError, match="valid until"):
        obtain(tmp_path, [], late + timedelta(days=71))
    assert keys.server.exists()


def test_a_lost_ca_key_is_named_when_it_is_needed(tmp_path):
    obtain(tmp_path, [])
    (tmp_path / "server.pem").unlink()
    (tmp_path / "ca.key").unlink()
    with pytest.raises(UserError, match=r"ca\.key is not a readable key"):
        obtain(tmp_path, [])


def test_a_certificate_file_of_something_else_is_named(tmp_path):
    (tmp_path / "ca.pem").write_text("something else")
    with pytest.raises(UserError, match=r"ca\.pem is not a readable certificate"):
        obtain(tmp_path, [])


def test_a_host_that_dns_cannot_have_is_refused(tmp_path):
    with pytest.raises(UserError, match="'kärte' must be a name in ASCII"):
        obtain(tmp_path, ["kärte"])
