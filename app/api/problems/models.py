"""The models of problem documents in the OpenAPI document."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class FieldError(BaseModel):
    """The error of one field of the request. Further members have the numbers of the detail."""

    model_config = ConfigDict(extra="allow")

    pointer: str
    """JSON pointer into the body; for a query parameter or header `#query/…`, `#header/…`."""
    detail: str
    """The error in a sentence."""
    value: Any = None
    """The value of the field, shortened if it is long; absent if it is not known."""
    limits: dict[str, Any] | None = None
    """Bounds of the value by name, such as `ge` (at least) and `max_length`; absent if it has none."""
    minimum: Any = None
    """The smallest value, or the first release, that the field takes; absent if unlimited."""
    maximum: Any = None
    """The largest value, or the last release, that the field takes; absent if unlimited."""
    known: list[Any] | None = None
    """The values, or names of fields, that there are; absent if the field takes any."""


class Conflicting(BaseModel):
    """One constraint of an infeasible subset."""

    model_config = ConfigDict(extra="allow")

    constraint: str
    """Name of the constraint."""
    pointer: str
    """JSON pointer to the field of the request that states it; empty if it is a default."""
    detail: str
    """The constraint in a sentence, with its numbers."""


class Problem(BaseModel):
    """A problem document (RFC 9457). Members after `errors` are of some codes only, and absent in others."""

    model_config = ConfigDict(extra="allow")

    type: str
    """URI reference of the page that explains the code, which the service has: `/problems#<code>`."""
    title: str
    """The kind of failure in a few words, equal for equal codes."""
    status: int
    """HTTP status of the response."""
    detail: str
    """The failure in a sentence, with its numbers."""
    code: str
    """Stable code of the failure, by which a client decides."""
    instance: str
    """Path of the request."""
    request_id: str
    """Id of the request, as in `X-Request-ID` and in the log of the service."""
    errors: list[FieldError]
    """Invalid fields, the first 100; empty if the failure is not of a field."""
    conflict: list[Conflicting] | None = None
    """Irreducible infeasible subset of the constraints: without any one of them the others can be satisfied."""
    lifted_by: list[str] | None = None
    """Changes of the request each of which resolves the conflict, in words."""
    limit_name: str | None = None
    """Name of the exceeded limit, as in `x-limits` of the OpenAPI document."""
    limit: float | None = None
    """The exceeded limit, in the unit of its name."""
    value: Any = None
    """The rejected value."""
    minimum_bytes: int | None = None
    """Bytes that the change moves at least."""
    content_hash: str | None = None
    """Content hash of the newest snapshot of the cluster, in hexadecimal."""
    offered: list[str] | None = None
    """Media types that the operation takes or answers."""
    kafka_exception: str | None = None
    """Class name of the exception that Kafka's own code raises on the same input."""
    kafka_message: str | None = None
    """Message of this exception."""
    line: int | None = None
    """Line of the text that cannot be read, from 1."""
    byte: int | None = None
    """Offset of the byte that cannot be read, from 0."""
    expected: str | None = None
    """Expected content in its place."""
    count: int | None = None
    """Number of cases, named or not."""
