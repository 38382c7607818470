"""The certificates that prove the server's identity.

EC P-256 throughout: every TLS library takes it, and a handshake costs a small node little.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from veilmap.errors import UserError, shown
from veilmap.files import write_whole
from veilmap.flower.machines.private_files import PrivateKey, private_folder, write_private_key

# Every node holds the CA's certificate, so a new one must be distributed to every node.
CA_DAYS = 3650
# The longest that strict TLS libraries accept; nodes need no change for a new one.
SERVER_DAYS = 397
# Time to plan a restart of the server.
NOTICE_DAYS = 30
ALWAYS = ("localhost", "127.0.0.1")
# Certificates say of every use of a key whether it is granted.
_SIGNING = ("digital_signature", "content_commitment", "key_cert_sign", "crl_sign")
_ENCIPHERING = ("key_encipherment", "data_encipherment", "encipher_only", "decipher_only")
_KEY_USAGES = (*_SIGNING, *_ENCIPHERING, "key_agreement")
# Software that does not understand these must reject the certificate (RFC 5280, 4.2).
_CRITICAL = (x509.BasicConstraints, x509.KeyUsage)


class Certificates:
    """The files of a server's certificates; ``ca`` is what nodes are given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ca = folder / "ca.pem"
        self.ca_key = folder / "ca.key"
        self.server = folder / "server.pem"
        self.server_key = folder / "server.key"


def obtain(folder: Path, hosts: Sequence[str], now: datetime | None = None) -> Certificates:
    """The certificates in ``folder``, created if missing; an error if they are not valid.

    Args:
        folder: where they are kept; its private files get mode 0600.
        hosts: names and addresses under which nodes reach the server.
        now: the time at which they must be valid.
    """
    now = now or datetime.now(UTC)
    files = Certificates(private_folder(folder))
    names = {host: _general_name(host) for host in (*ALWAYS, *hosts)}
    if not files.ca.exists():
        _make_ca(files, now)
    if not files.server.exists():
        _make_server(files, names.values(), now)
    _refuse_ending(files.ca, now, "remove the folder's files, start again and give nodes ca.pem")
    again = "remove server.pem and start again: nodes need no change"
    _refuse_ending(files.server, now, again)
    _refuse_missing(files.server, names, again)
    return files


def _make_ca(files: Certificates, now: datetime) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("veilmap CA")
    unsigned = _unsigned(name, name, key, now, now + timedelta(days=CA_DAYS))
    extensions = (
        x509.BasicConstraints(ca=True, path_length=0),
        _usage("key_cert_sign", "crl_sign"),
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
    )
    write_private_key(files.ca_key, key, serialization.PrivateFormat.PKCS8)
    write_whole(files.ca, _signed(unsigned, extensions, key))


def _make_server(files: Certificates, names: Iterable[x509.GeneralName], now: datetime) -> None:
    ca, ca_key = _load(files.ca), _load_key(files.ca_key)
    key = ec.generate_private_key(ec.SECP256R1())
    ends = min(now + timedelta(days=SERVER_DAYS), ca.not_valid_after_utc)
    unsigned = _unsigned(_name("veilmap server"), ca.subject, key, now, ends)
    extensions = (
        x509.BasicConstraints(ca=False, path_length=None),
        _usage("digital_signature"),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
        x509.SubjectAlternativeName(names),
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
        x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()),
    )
    write_private_key(files.server_key, key, serialization.PrivateFormat.PKCS8)
    write_whole(files.server, _signed(unsigned, extensions, ca_key))


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: PrivateKey, now: datetime, ends: datetime
) -> x509.CertificateBuilder:
    # Valid from an hour ago, for nodes whose clocks are slightly behind.
    begins, number = now - timedelta(hours=1), x509.random_serial_number()
    return x509.CertificateBuilder(issuer, subject, key.public_key(), number, begins, ends)


def _signed(
    unsigned: x509.CertificateBuilder, extensions: Iterable[x509.ExtensionType], key: PrivateKey
) -> bytes:
    for each in extensions:
        unsigned = unsigned.add_extension(each, critical=isinstance(each, _CRITICAL))
    return unsigned.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _usage(*granted: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{usage: usage in granted for usage in _KEY_USAGES})


def _refuse_ending(path: Path, now: datetime, way_out: str) -> None:
    ends = _load(path).not_valid_after_utc
    if ends - now < timedelta(days=NOTICE_DAYS):
        raise UserError(
            f"{path} is valid until {ends:%Y-%m-%d}, less than {NOTICE_DAYS} days; {way_out}"
        )


def _refuse_missing(path: Path, wanted: dict[str, x509.GeneralName], way_out: str) -> None:
    held = _load(path).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    missing = [host for host, name in wanted.items() if name not in list(held)]
    if missing:
        raise UserError(f"{path} is not made out to {', '.join(missing)}; {way_out}")


def _general_name(host: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ipaddress.ip_address(host))
    try:
        return x509.DNSName(host)
    except ValueError:
        raise UserError(
            f"host {shown(host)} must be a name in ASCII or an address; write it as DNS has it "
            "(xn--...)"
        ) from None


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _load(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError):
        raise UserError(
            f"{path} is not a readable certificate; put it back or remove it and start again"
        ) from None


def _load_key(path: Path) -> PrivateKey:
    key = None
    with suppress(OSError, ValueError):
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    if not isinstance(key, PrivateKey):
        raise UserError(
            f"{path} is not a readable key, and a new server certificate needs it; put it back, or "
            "remove the folder's files, start again and give nodes the new ca.pem"
        )
    return key
