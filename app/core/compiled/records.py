"""Records: the named tuples that loops declare, passed on without counting references.

numba counts the references to each array of a named tuple wherever it is passed on, which is code for dozens of arrays
in every function. Whoever calls holds the tuple until the call returns, so that a parameter needs no references of its
own. An array that is read from a record is counted as any other.
"""

from typing import Any

from numba.core import types
from numba.core.boxing import unbox_tuple
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_cast
from numba.core.pythonapi import NativeValue, unbox
from numba.core.typeconv import Conversion


class Record(types.NamedTuple):  # type: ignore[misc] # numba has no types
    """The type of a parameter that is a named tuple."""

    def __init__(self, fields: Any, declared: type) -> None:
        super().__init__(fields, declared)
        self.name: str = f"Record{self.name}"  # symbols have it

    @property
    def counted(self) -> types.NamedTuple:
        """The same as a value, which holds its arrays."""
        return types.NamedTuple(self.types, self.instance_class)

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:  # noqa: ARG002 — numba calls it
        """A value becomes a parameter."""
        return Conversion.safe if other == self.counted else None


def returns_record(returned: Any) -> bool:
    """Whether a result would have arrays that nothing holds."""
    parts = returned.types if isinstance(returned, types.BaseTuple) else ()
    return isinstance(returned, Record) or any(map(returns_record, parts))


@register_default(Record)
class _RecordModel(models.TupleModel):  # type: ignore[misc] # as above
    """As a tuple, but nothing in it is counted."""

    def traverse(self, builder: Any) -> list[Any]:  # noqa: ARG002 — numba calls it
        return []


@lower_cast(types.NamedTuple, Record)  # type: ignore[untyped-decorator] # as above
def _pass_on(_context: Any, _builder: Any, _given: Any, _declared: Any, value: Any) -> Any:
    return value


@unbox(Record)  # type: ignore[untyped-decorator] # as above
def _unbox(record: Record, given: Any, c: Any) -> Any:
    """Hold the arrays of Python's tuple until the call returns."""
    native = unbox_tuple(record.counted, given, c)

    def release() -> None:
        if native.cleanup is not None:
            native.cleanup()
        c.context.nrt.decref(c.builder, record.counted, native.value)

    return NativeValue(native.value, cleanup=release, is_error=native.is_error)
