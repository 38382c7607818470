from argparse import Namespace

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from flwr.cli.supernode.register import try_load_public_key
from flwr.supercore.primitives.asymmetric import public_key_to_bytes
from flwr.supernode.cli.flower_supernode import _try_setup_client_authentication

from veilmap.errors import UserError
from veilmap.flower.machines.node_key import load_public, obtain, public_file


def test_flower_reads_both_halves(tmp_path):
    path = tmp_path / "node.key"
    key = obtain(path)
    arguments = Namespace(auth_supernode_private_key=str(path), auth_supernode_public_key=None)
    private, _ = _try_setup_client_authentication(arguments)
    assert private.private_numbers() == key.private_numbers()
    assert try_load_public_key(public_file(path)) == public_key_to_bytes(key.public_key())


def test_only_the_owner_reads_the_key(tmp_path):
    obtain(tmp_path / "node.key")
    assert (tmp_path / "node.key").stat().st_mode & 0o777 == 0o600


def test_a_second_start_keeps_the_key_and_puts_a_lost_public_half_back(tmp_path):
    path = tmp_path / "node.key"
    first = obtain(path)
    text = public_file(path).read_text()
    public_file(path).unlink()
    assert obtain(path).private_numbers() == first.private_numbers()
    assert public_file(path).read_text() == text


def test_the_public_half_is_the_one_of_the_private_one(tmp_path):
    path = tmp_path / "node.key"
    key = obtain(path)
    assert load_public(public_file(path)).public_numbers() == key.public_key().public_numbers()


def test_a_private_key_is_not_taken_for_a_public_one(tmp_path):
    obtain(tmp_path / "node.key")
    with pytest.raises(UserError, match=r"private key, which must not leave its node"):
        load_public(tmp_path / "node.key")


def test_a_key_of_another_kind_is_refused(tmp_path):
    other = ed25519.Ed25519PrivateKey.generate()
    (tmp_path / "other.pub").write_bytes(
        other.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
    )
    with pytest.raises(UserError, match="not a node's public key"):
        load_public(tmp_path / "other.pub")


def test_a_key_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "node.key").write_text("something else")
    with pytest.raises(UserError, match="not an EC key in OpenSSH's format"):
        obtain(tmp_path / "node.key")


def test_a_missing_public_key_is_named(tmp_path):
    with pytest.raises(UserError, match=r"cannot read .*node\.key\.pub"):
        load_public(tmp_path / "node.key.pub")
