import socket

import pytest

from veilmap.errors import UserError
from veilmap.flower.machines import ports
from veilmap.flower.machines.ports import LOOPBACK, Address, answers, free_port, refuse_taken


@pytest.mark.parametrize("text", ["server.example:9092", "192.0.2.1:9092", "[2001:db8::1]:9092"])
def test_an_address_is_written_as_it_was_read(text):
    assert str(Address.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "server", ":9092", "server:", "server:x", "https://server:9092", "2001:db8::1:9092"],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UserError, match=r"HOST:PORT|must be a name or an address"):
        Address.parse(text)


@pytest.mark.parametrize("port", [0, 65536])
def test_a_port_outside_its_range_is_refused(port):
    with pytest.raises(UserError, match=f"between 1 and 65535, got {port}"):
        Address("server", port)


def test_a_taken_port_is_refused_with_the_way_out(monkeypatch):
    monkeypatch.setattr(ports, "PATIENCE_S", 0.0)
    with socket.create_server((LOOPBACK, 0)) as taken:
        address = Address(LOOPBACK, taken.getsockname()[1])
        assert answers(address)
        with pytest.raises(UserError, match=r"in use; choose another with --listen"):
            refuse_taken(address, "--listen")


def test_an_address_of_another_machine_is_refused(monkeypatch):
    monkeypatch.setattr(ports, "PATIENCE_S", 0.0)
    with pytest.raises(UserError, match=r"cannot listen at 192\.0\.2\.1:9092"):
        refuse_taken(Address("192.0.2.1", 9092), "--listen")


def test_a_free_port_is_free():
    address = Address(LOOPBACK, free_port())
    assert not answers(address)
    refuse_taken(address, "--port")
