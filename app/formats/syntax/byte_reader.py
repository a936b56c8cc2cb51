"""Numbers in bytes, one after another, big-endian and signed; the readers of formats add what theirs have."""

from abc import ABC, abstractmethod


class ByteReader(ABC):
    """Reads one field after another; `what` names it in rejections."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0

    @property
    def offset(self) -> int:
        """Number of bytes that were read."""
        return self._offset

    @property
    def left(self) -> int:
        """Number of bytes that are left."""
        return len(self._data) - self._offset

    def int8(self, what: str) -> int:
        return self._number(1, what)

    def int16(self, what: str) -> int:
        return self._number(2, what)

    def int32(self, what: str) -> int:
        return self._number(4, what)

    def int64(self, what: str) -> int:
        return self._number(8, what)

    @abstractmethod
    def reject(self, byte: int, expected: str, actual: str) -> Exception:
        """The rejection of the field at that offset."""

    def _number(self, size: int, what: str) -> int:
        return int.from_bytes(self._take(size, what), "big", signed=True)

    def _take(self, size: int, what: str) -> bytes:
        taken = self._data[self._offset : self._offset + size]
        if len(taken) < size:
            raise self.reject(self._offset, what, f"the end after {len(taken)} of {size} bytes")
        self._offset += size
        return taken
