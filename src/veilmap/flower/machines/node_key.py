"""The key pair that identifies a node to the server."""

from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from veilmap.errors import UserError
from veilmap.files import write_whole
from veilmap.flower.machines.private_files import PrivateKey, private_folder, write_private_key


def obtain(path: Path) -> PrivateKey:
    """The private key at ``path``, created if missing, with its public half beside it (``.pub``).

    OpenSSH's format, as flower-supernode reads it; P-384, the curve of Flower's own keys. The
    public half is rewritten if missing: the operator needs it to admit the node.
    """
    if not path.exists():
        private_folder(path.parent)
        key = ec.generate_private_key(ec.SECP384R1())
        write_private_key(path, key, serialization.PrivateFormat.OpenSSH)
    key = _load(path)
    public = public_file(path)
    if not public.exists():
        text = key.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
        write_whole(public, text + b"\n")
    return key


def public_file(path: Path) -> Path:
    """The path of the public half of the key at ``path``."""
    return path.with_name(f"{path.name}.pub")


def load_public(path: Path) -> ec.EllipticCurvePublicKey:
    """A node's public key, as its owner sent it."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}; give a node's .pub file") from None
    if b"PRIVATE KEY" in text:
        raise UserError(
            f"{path} is a private key, which must not leave its node; take the .pub file beside it"
        )
    key = None
    with suppress(ValueError, UnsupportedAlgorithm):
        key = serialization.load_ssh_public_key(text)
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise UserError(
            f"{path} is not a node's public key (ecdsa-sha2-nistp384 ...); take the .pub file "
            "that 'veilmap flower join' left on the node"
        )
    return key


def _load(path: Path) -> PrivateKey:
    try:
        key = serialization.load_ssh_private_key(path.read_bytes(), None)
    except OSError as error:
        raise UserError(
            f"cannot read the node's key {path}: {error.strerror}; name another file"
        ) from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, PrivateKey):
        raise UserError(
            f"{path} is not an EC key in OpenSSH's format without a password; move it away and "
            "start again for a new one, which the operator must admit"
        )
    return key
