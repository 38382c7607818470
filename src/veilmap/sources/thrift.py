"""A reader of Thrift's compact protocol, in which Parquet files describe themselves.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from mmap import mmap
from typing import Any

_DEEPEST = 16  # Parquet's own structures nest seven deep
Bytes = bytes | mmap  # a file in memory, or mapped into it


class Cursor:
    """A position in a file, from which values are read one after the other.

    Raises (all methods):
        ValueError: the data are not Thrift, or the file ends too soon.
    """

    def __init__(self, content: Bytes, at: int, end: int) -> None:
        self._content, self.at, self._end = content, at, min(end, len(content))

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a structure by their numbers; texts are left out, lists are lists."""
        fields: dict[int, Any] = {}
        number = 0
        while header := self._byte():
            step = header >> 4
            number = number + step if step else self._integer()
            fields[number] = self._value(header & 15, depth, in_list=False)
        return fields

    def _value(self, kind: int, depth: int, *, in_list: bool) -> Any:
        if depth > _DEEPEST:
            raise ValueError("structures nest too deeply")
        match kind:
            case 1 | 2:  # a boolean: in the kind of a field, in a byte of a list
                return self._byte() == 1 if in_list else kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._integer()
            case 7:
                return self._skip(8)
            case 8:
                return self._skip(self._unsigned())
            case 9 | 10:
                return self._list(depth)
            case 11:
                return self._map(depth)
            case 12:
                return self.struct(depth + 1)
        raise ValueError(f"there is no kind {kind} of values")

    def _list(self, depth: int) -> list[Any]:
        header = self._byte()
        size, kind = header >> 4, header & 15
        size = self._unsigned() if size == 15 else size
        return [self._value(kind, depth + 1, in_list=True) for _ in range(size)]

    def _map(self, depth: int) -> None:
        size = self._unsigned()
        kinds = self._byte() if size else 0
        for _ in range(size):
            self._value(kinds >> 4, depth + 1, in_list=True)
            self._value(kinds & 15, depth + 1, in_list=True)

    def _integer(self) -> int:
        """Zigzag: 0, -1, 1, -2 are written as 0, 1, 2, 3."""
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _unsigned(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise ValueError("a number has more than 64 bits")

    def _byte(self) -> int:
        if self.at >= self._end:
            raise ValueError("it ends too soon")
        byte = self._content[self.at]
        self.at += 1
        return byte

    def _skip(self, size: int) -> None:
        if size > self._end - self.at:
            raise ValueError("it ends too soon")
        self.at += size
