"""The domain's failures: what can go wrong, as facts that a caller can act on.

Every failure has a stable `code`, a title, a detail that carries the numbers and a JSON-safe context. What HTTP status
it becomes is decided at the edge (`app.api.problems`). Failures survive pickling, since they cross process borders.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

    def __reduce__(self) -> tuple[object, ...]:
        # The default would call the constructor with the detail alone, which subclasses may refuse.
        return _rebuild, (type(self), self.detail, self.__dict__)


def _rebuild(cls: type[Failure], detail: str, state: dict[str, object]) -> Failure:
    failure = cls.__new__(cls, detail)
    failure.__dict__.update(state)
    return failure


# -- what a text or a document says wrong ------------------------------------------------------------------------


class MalformedText(Failure):
    """A Kafka text, document or byte string that cannot be read; names the line (or byte) and what was expected."""

    code = "malformed_text"
    title = "The text is not what the Kafka tool prints"

    def __init__(self, detail: str, *, line: int | None = None, expected: str = "", **context: Json) -> None:
        where = f"line {line}: " if line is not None else ""
        super().__init__(where + detail)
        self.context = {"line": line, "expected": expected, **context}
        self.line = line
        self.expected = expected


# -- what Kafka itself would refuse ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KafkaError:
    """What Kafka's own code throws: the exception's simple class name and, for Kafka's own classes, its message."""

    exception: str
    message: str | None = None


class KafkaRefuses(Failure):
    """Base of the failures that Kafka's own code answers to the same input."""

    kafka: KafkaError

    def __init__(self, detail: str, *, kafka: KafkaError, path: FieldPath = (), **context: Json) -> None:
        super().__init__(detail, path=path, **context)
        self.kafka = kafka


class InvalidPartitions(KafkaRefuses):
    """The number of partitions is not positive."""

    code = "invalid_partitions"
    title = "The number of partitions is not possible"


class InvalidReplicationFactor(KafkaRefuses):
    """The replication factor is not positive, or larger than the brokers can carry."""

    code = "invalid_replication_factor"
    title = "The replication factor is not possible"


class BrokersWithoutRack(KafkaRefuses):
    """Some brokers have a rack and others have none, where racks are enforced."""

    code = "brokers_without_rack"
    title = "Racks are enforced and some brokers have none"


class ArithmeticOverflow(KafkaRefuses):
    """Kafka's 32-bit arithmetic overflows and its code fails on the result."""

    code = "arithmetic_overflow"
    title = "Kafka's 32-bit arithmetic overflows"
