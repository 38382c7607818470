"""What may happen to a file on its way: cut, flipped bits, hostile values in place of good ones.

An edit is three numbers, so that hypothesis can draw it quickly and shrink it: which change, where
in the file (of 65,536 parts), and by what.
"""

import re
import struct
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

PARTS = 1 << 16
Edit = tuple[int, int, int]
_EDIT = struct.Struct("<BHH")

# Where a value stands in CSV, XML, JSON and TOML alike.
_VALUE = re.compile(rb'"[^"\n]*"|[^\s,;|<>{}\[\]="]+')
_LINE = re.compile(rb"[^\r\n]*\r?\n?")

NUMBERS = (
    "nan", "inf", "-inf", "NaN", "Infinity", "5e-324", "-5e-324", "1e308", "1e999", "-1e999", "0",
    "-0.0", "-1", "0.5", "90", "-90", "90.0000001", "180", "-180", "-180.0000001", "359.9", "-200",
    "-140", "99", "255", "2147483647", "-2147483649", "9223372036854775808", "18446744073709551616",
    "1" * 400, "1,5", "１２", "0x1f", "1_000", "+5", "--5", "1e", ".", "-", "5d",
)  # fmt: skip
TIMES = (
    "1970-01-01 00:00:00", "1970-01-01T00:00:00Z", "0001-01-01 00:00:00", "9999-12-31 23:59:59",
    "9999-12-31T23:59:59.999999+14:00", "2024-02-30 00:00:00", "2024-03-31 02:30:00",
    "19700101000000",
    "99991231235959", "2024.03.01_25.61.61", "0", "-1", "253402300799", "253402300799999",
    "-62135596800", "9223372036854775807", "1e20", "03/04/2024 10:00", "2024-W09-5", "noon",
)  # fmt: skip
TEXTS = (
    "", " ", '"', '""', "'", "null", "NA", "None", "true", "[]", "{}", "[[]]", '{"a":1}', "\\",
    "\\ud800",
    "\u202egnp.exe", "👩\u200d👩\u200d👧", "e\u0301\u0301", "é", "\ufeff", "\u2028", "\x1b[31m",
    "a\nb", "%s%n", "{0}",
    "../../etc/passwd", "=1+1", "<!--", "]]>", "&lol;", "&#0;", "user", "lat", "x" * 5000,
    "-" * 300,
)  # fmt: skip
BYTES = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\n\n\n", b'"', b",",
    b"\x1a",
    b"\xed\xa0\x80", b"\xc0\x80", b"\x80", b"PAR1", b"PK\3\4", b"\x1f\x8b", b"[" * 3000,
    b'{"a":' * 3000, b"<a>" * 3000, b"\0" * 512, b"\xff" * 64, b"x" * 70_000, b"#", b"[", b"]]",
    b"=",
)  # fmt: skip
HOSTILE = tuple(each.encode() for each in (*NUMBERS, *TIMES, *TEXTS))


def _cut(content: bytes, at: int, by: int) -> bytes:
    return content[:at]


def _flip(content: bytes, at: int, by: int) -> bytes:
    return (
        content[:at]
        + bytes(each ^ (1 << by % 8) for each in content[at : at + 1])
        + content[at + 1 :]
    )


def _drop(content: bytes, at: int, by: int) -> bytes:
    return content[:at] + content[at + 1 + by % 64 :]


def _double(content: bytes, at: int, by: int) -> bytes:
    return content[: at + 1 + by % 4096] + content[at:]


def _insert(content: bytes, at: int, by: int) -> bytes:
    return content[:at] + BYTES[by % len(BYTES)] + content[at:]


def _set_byte(content: bytes, at: int, by: int) -> bytes:
    return content[:at] + bytes([by % 256]) + content[at + 1 :]


def _set_number(content: bytes, at: int, by: int) -> bytes:
    """Eight bytes as a length or an offset of a binary format: 0, 1, all ones, 2^31, 2^63."""
    sizes = (0, 1, 2**64 - 1, 2**31, 2**63, 2**32 - 1, 2**40, len(content))
    return content[:at] + sizes[by % len(sizes)].to_bytes(8, "little") + content[at + 8 :]


def _replace(content: bytes, at: int, by: int) -> bytes:
    """The value at or after the place by a hostile one, within quotes where it stood in quotes."""
    found = _VALUE.search(content, at)
    if found is None:
        return content
    hostile = HOSTILE[by % len(HOSTILE)]
    if found[0].startswith(b'"') and by % 3:
        hostile = b'"' + hostile + b'"'
    return content[: found.start()] + hostile + content[found.end() :]


def _swap(content: bytes, at: int, by: int) -> bytes:
    """Two neighbouring values change places, as columns do that are mixed up."""
    one = _VALUE.search(content, at)
    other = one and _VALUE.search(content, one.end())
    if one is None or other is None:
        return content
    between = content[one.end() : other.start()]
    return content[: one.start()] + other[0] + between + one[0] + content[other.end() :]


def _repeat_line(content: bytes, at: int, by: int) -> bytes:
    line = _LINE.match(content, content.rfind(b"\n", 0, at) + 1)
    return (
        content
        if line is None
        else content[: line.end()] + line[0] * (by % 40) + content[line.end() :]
    )


def _drop_line(content: bytes, at: int, by: int) -> bytes:
    line = _LINE.match(content, content.rfind(b"\n", 0, at) + 1)
    return content if line is None else content[: line.start()] + content[line.end() :]


def _mix_line_ends(content: bytes, at: int, by: int) -> bytes:
    return content[:at] + content[at:].replace(b"\n", (b"\r", b"\r\n", b"\n\r", b"\x0b")[by % 4])


def _mark(content: bytes, at: int, by: int) -> bytes:
    mark = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"+/v8", b" ", b"\0")
    return mark[by % len(mark)] + content


CHANGES: tuple[Callable[[bytes, int, int], bytes], ...] = (
    _replace, _flip, _cut, _drop, _double, _insert, _set_byte, _set_number, _swap, _repeat_line,
    _drop_line, _mix_line_ends, _mark, _replace, _replace,
)  # fmt: skip

# One to three of them, drawn as bytes: ten times quicker than as numbers.
edits = st.binary(min_size=_EDIT.size, max_size=3 * _EDIT.size).map(
    lambda drawn: list(_EDIT.iter_unpack(drawn[: len(drawn) // _EDIT.size * _EDIT.size]))
)


def apply(content: bytes, wanted: Sequence[Edit]) -> bytes:
    """The file after all the edits, one after the other."""
    for change, where, by in wanted:
        content = CHANGES[change % len(CHANGES)](content, where * len(content) // PARTS, by)
    return content
