"""Record keys as two buffers, the bytes and the offsets of each key, like Arrow's binary arrays."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import Bools

Bytes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = Bools
Offsets: TypeAlias = NDArray[np.int32] | NDArray[np.int64]

_KEYS_IN_BLOCK = 8192  # their offsets stay in the cache of a processor


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Key i is bytes offsets[i] … offsets[i + 1] − 1 of `data`.

    The buffers of an Arrow binary or string array have this form (`array.buffers()[1:]`, from entry `array.offset` of
    the offsets on), so that millions of keys are read without a copy.

    Parameters
    ----------
    data : (bytes,) uint8, contiguous.
    offsets : (keys + 1,) int32 or int64, ascending from 0 or more to at most len(data).
    is_null : (keys,) bool, records without a key, as opposed to an empty key; None if all have one.

    Raises
    ------
    ValueError
        The offsets are missing, descend or point outside the data, or `is_null` has another length.
    """

    data: Bytes
    offsets: Offsets
    is_null: Flags | None = None

    def __post_init__(self) -> None:
        if self.data.dtype != np.uint8 or self.data.ndim != 1 or not self.data.flags.c_contiguous:
            raise ValueError("the keys' bytes are one contiguous array of uint8")
        if self.offsets.dtype not in (np.int32, np.int64) or self.offsets.ndim != 1 or not len(self.offsets):
            raise ValueError("offsets are int32 or int64, one more than there are keys")
        # The compiled loops do not check bounds.
        first, last = int(self.offsets[0]), int(self.offsets[-1])
        if first < 0 or last > len(self.data) or (self.offsets[1:] < self.offsets[:-1]).any():
            raise ValueError(f"offsets ascend from 0 to at most {len(self.data)}; {first} to {last} given")
        if self.is_null is not None and len(self.is_null) != len(self):
            raise ValueError(f"{len(self)} keys have {len(self)} null flags; {len(self.is_null)} given")
        # Always read-only, so that each loop is compiled for one type of array.
        data, offsets = self.data.view(), self.offsets.view()
        data.flags.writeable = offsets.flags.writeable = False
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "offsets", offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes | None:
        """The bytes of one key; None for a record without key."""
        if self.is_null is not None and self.is_null[index]:
            return None
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """The keys block by block, with offsets as loops take them: int64, contiguous.

        Other offsets are converted into one small buffer, which is valid until the next block.
        """
        if self.offsets.dtype == np.int64 and self.offsets.flags.c_contiguous:
            yield slice(0, len(self)), self.offsets.astype(np.int64, copy=False)
            return
        buffer = np.empty(_KEYS_IN_BLOCK + 1, np.int64)
        for first in range(0, len(self), _KEYS_IN_BLOCK):
            part = slice(first, min(first + _KEYS_IN_BLOCK, len(self)))
            offsets = buffer[: part.stop - first + 1]
            offsets[:] = self.offsets[first : part.stop + 1]
            yield part, offsets

    @property
    def lengths(self) -> Offsets:
        """(keys,) number of bytes of each key."""
        return np.diff(self.offsets)


def keys_of(values: Sequence[bytes | None] | Iterable[bytes | None]) -> Keys:
    """Keys from single values; None is a record without key."""
    listed = list(values)
    present = [value or b"" for value in listed]
    offsets = np.fromiter(accumulate(map(len, present), initial=0), np.int64, len(present) + 1)
    is_null = np.fromiter((value is None for value in listed), np.bool_, len(listed))
    return Keys(np.frombuffer(b"".join(present), np.uint8), offsets, is_null if is_null.any() else None)
