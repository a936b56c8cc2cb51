"""What was computed lately, by its key, so that the next scenario need not compute it again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """The `limit` values that were asked for last."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of that key, computed where it is not at hand; a failure to compute is not kept."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        value = self._values[key] = compute()
        if len(self._values) > self._limit:
            self._values.popitem(last=False)
        return value
