"""Types of the arrays that loops take; numba compiles a loop for its annotations.

Arrays are contiguous in C's order. To mypy `Int64Vector` and `Int64Matrix` are the same `NDArray[np.int64]`.
"""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Layout:
    """The dtype, by its name in numba, and the dimensions of an array.

    is_read_only : the loop only reads, so that it also takes arrays that may not be written. is_strided : rows or
        columns of a larger array are taken as they are.
    """

    dtype: str
    dimensions: int
    is_read_only: bool = False
    is_strided: bool = False


BoolVector: TypeAlias = Annotated[NDArray[np.bool_], Layout("boolean", 1)]
BoolMatrix: TypeAlias = Annotated[NDArray[np.bool_], Layout("boolean", 2)]
UInt8Vector: TypeAlias = Annotated[NDArray[np.uint8], Layout("uint8", 1)]
UInt32Matrix: TypeAlias = Annotated[NDArray[np.uint32], Layout("uint32", 2)]
Int32Vector: TypeAlias = Annotated[NDArray[np.int32], Layout("int32", 1)]
Int32Matrix: TypeAlias = Annotated[NDArray[np.int32], Layout("int32", 2)]
Int32Cube: TypeAlias = Annotated[NDArray[np.int32], Layout("int32", 3)]
Int64Vector: TypeAlias = Annotated[NDArray[np.int64], Layout("int64", 1)]
Int64Matrix: TypeAlias = Annotated[NDArray[np.int64], Layout("int64", 2)]
Int64Cube: TypeAlias = Annotated[NDArray[np.int64], Layout("int64", 3)]
Int64Array4: TypeAlias = Annotated[NDArray[np.int64], Layout("int64", 4)]
FloatVector: TypeAlias = Annotated[NDArray[np.float64], Layout("float64", 1)]
FloatMatrix: TypeAlias = Annotated[NDArray[np.float64], Layout("float64", 2)]
FloatCube: TypeAlias = Annotated[NDArray[np.float64], Layout("float64", 3)]
StridedInt64Vector: TypeAlias = Annotated[NDArray[np.int64], Layout("int64", 1, is_strided=True)]
Bytes: TypeAlias = Annotated[NDArray[np.uint8], Layout("uint8", 1, is_read_only=True)]
Offsets: TypeAlias = Annotated[NDArray[np.int64], Layout("int64", 1, is_read_only=True)]
