"""What every failure is."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
FieldPath: TypeAlias = tuple[str | int, ...]
"""Where in the request's record the offending value stands: `("topics", 0, "partitions")`."""


class Failure(Exception):
    """Base of every failure that is the caller's to know about."""

    code: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, detail: str, *, path: FieldPath = (), **context: Json) -> None:
        super().__init__(detail)
        self.detail = detail
        self.path = path
        self.context = context
