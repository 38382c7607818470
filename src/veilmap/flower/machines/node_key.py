"""The key pair that identifies a node to the server."""

from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from veilmap.errors import UserError
from veilmap.files import write_whole
from veilmap.flower.machines.private_files import private_folder, write_private


def obtain(path: Path) -> ec.EllipticCurvePrivateKey:
    """The private key at ``path``, created if missing, with its public half beside it (``.pub``).

    OpenSSH's format, as flower-supernode reads it; P-384, the curve of Flower's own keys. The
    public half is rewritten if missing: the operator needs it to admit the node.
    """
    if not path.exists():
        private_folder(path.parent)
        write_private(path, _private_text(ec.generate_private_key(ec.SECP384R1())))
    key = _load(path)
    public = public_file(path)
    if not public.exists():
        write_whole(public, _public_text(key.public_key()) + b"\n")
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
    try:
        key = serialization.load_ssh_public_key(text)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise UserError(
            f"{path} is no public key of a node (ecdsa-sha2-nistp384 ...); take the .pub file "
            "that 'veilmap flower join' left on the node"
        )
    return key


def _load(path: Path) -> ec.EllipticCurvePrivateKey:
    try:
        key = serialization.load_ssh_private_key(path.read_bytes(), None)
    except OSError as error:
        raise UserError(
            f"cannot read the node's key {path}: {error.strerror}; name another file"
        ) from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise UserError(
            f"{path} is no EC key in OpenSSH's format without a password; move it away and start "
            "again for a new one, which the operator must admit"
        )
    return key


def _private_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )


def _public_text(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
