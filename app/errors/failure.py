"""The base of all failures, and the categories that decide how a caller can react."""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
FieldPath: TypeAlias = tuple[str | int, ...]
"""Path of the offending value in the record of the request: `("topics", 0, "partitions")`."""

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Failure(Exception):
    """Base of every failure that is reported to the caller.

    A subclass that states a `title` is a failure of its own; one that states none is a category. The `code` of a
    failure is its class name in snake_case unless the class states another one. Codes are part of the API contract:
    a class that is renamed states the code that it had. Both are arguments of the class:
    `class PlanNotFound(NotFound, title="Plan not found")`.
    """

    code: ClassVar[str]
    title: ClassVar[str]

    def __init_subclass__(cls, title: str | None = None, code: str | None = None) -> None:
        super().__init_subclass__()
        if title is not None:
            cls.title, cls.code = title, code or _WORD_BOUNDARY.sub("_", cls.__name__).lower()

    def __init__(self, detail: str, *, path: FieldPath = (), **context: Json) -> None:
        super().__init__(detail)
        self.detail = detail
        self.path = path
        self.context = context


class Unprocessable(Failure):
    """Category: the request is well formed, but impossible or contradictory."""


class NotFound(Failure):
    """Category: the resource that the request names does not exist."""


class Conflict(Failure):
    """Category: the request contradicts the current state of a resource; it may succeed later or after a change."""


class Unavailable(Failure):
    """Category: the service cannot answer now; the same request may succeed later."""
