"""What members of a classic consumer group and its leader tell each other: subscriptions and assignments.

A subscription is the `member_metadata` that the group coordinator keeps for each member, an assignment its
`member_assignment`. Both start with a version as two bytes:

    0003 00000001 0001 74  ffffffff   00000000  ffffffff    0001 61
    v3   1 topic: "t"      user data  no owned  generation  rack "a"

    0003 00000001 0001 74 00000001 00000000  ffffffff
    v3   1 topic: "t"  with 1 partition: 0   user data

    version   a subscription gained                       an assignment
    0         topics, user data                           partitions, user data
    1         owned partitions (KIP-429)                  the same
    2         generation (KIP-792)                        the same
    3         rack (KIP-881)                              the same

A version from the future is read as 3, as Kafka does: later versions may only add fields at the end.

If the fields cannot be read, clients throw whatever the field's reader does. With KAFKA-20570, which 4.2.2 and 4.4.0
have and 4.3.1 has not, they wrap it in a `SchemaException` of one text: `wraps_errors`.
Source: KIP-429, KIP-792, KIP-881; `ConsumerProtocol` of Apache Kafka.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.core.groups.model import Member, Owned
from app.core.kafka_versions import KafkaVersion
from app.errors.kafka import CorruptProtocolBytes, KafkaError
from app.formats.syntax.generated_bytes import GeneratedReader

NEWEST_VERSION = 3


@dataclass(frozen=True, slots=True, eq=False)
class Subscription:
    """What a member wants and has.

    Parameters
    ----------
    version : as the bytes say; above `NEWEST_VERSION` they were read as that.
    owned : the partitions that it owns, in its order. generation_id : of those; None if it is not stated.
    rack_id : None if it is absent or empty.
    """

    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned: tuple[Owned, ...] = ()
    generation_id: int | None = None
    rack_id: str | None = None
    version: int = NEWEST_VERSION

    @property
    def is_from_the_future(self) -> bool:
        """The version is one that this reader does not know; fields that it added were not read."""
        return self.version > NEWEST_VERSION

    def member(self, member_id: str, *, group_instance_id: str | None = None) -> Member:
        """The member as an assignor sees it."""
        return Member(member_id, self.topics, self.rack_id, group_instance_id, self.owned, self.generation_id)


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """What a member is given. version: as for a subscription."""

    partitions: tuple[Owned, ...]
    user_data: bytes | None = None
    version: int = NEWEST_VERSION

    @property
    def is_from_the_future(self) -> bool:
        """The version is one that this reader does not know; fields that it added were not read."""
        return self.version > NEWEST_VERSION


def wraps_errors_in(version: KafkaVersion) -> bool:
    """Whether clients of a release wrap the errors of fields (KAFKA-20570): 4.2.2 does, 4.3.0 and 4.3.1 do not."""
    return KafkaVersion(4, 2, 2) <= version < KafkaVersion(4, 3) or version >= KafkaVersion(4, 3, 2)


def read_subscription(data: bytes, *, wraps_errors: bool = False) -> Subscription:
    """Read a member's metadata; bytes after the last field are not looked at.

    Parameters
    ----------
    wraps_errors : the failure carries the exception of clients that wrap errors of fields.

    Raises
    ------
    CorruptProtocolBytes
        The bytes end too early, count what cannot be there, or are of a version below 0; it carries Kafka's exception.
    """
    reader = GeneratedReader(data, "subscription")
    version, known = _version(reader, "subscription")
    with _errors_of("subscription", wraps_errors=wraps_errors):
        topics = tuple([reader.string("topics element") for _ in range(reader.count("topics"))])
        user_data = reader.nullable_bytes("userData")
        owned = reader.topic_partitions("ownedPartitions") if known >= 1 else ()
        generation_id = reader.int32("a generation (int32)") if known >= 2 else -1
        rack_id = reader.nullable_string("rackId") if known >= 3 else None
    return Subscription(
        topics=topics,
        user_data=user_data,
        owned=owned,
        generation_id=generation_id if generation_id >= 0 else None,
        rack_id=rack_id or None,
        version=version,
    )


def read_assignment(data: bytes, *, wraps_errors: bool = False) -> Assignment:
    """Read what a member was given; bytes after the last field are not looked at.

    Parameters
    ----------
    wraps_errors : as for a subscription.

    Raises
    ------
    CorruptProtocolBytes
        As for a subscription.
    """
    reader = GeneratedReader(data, "assignment")
    version, _ = _version(reader, "assignment")
    with _errors_of("assignment", wraps_errors=wraps_errors):
        partitions = reader.topic_partitions("assignedPartitions")
        user_data = reader.nullable_bytes("userData")
    return Assignment(partitions, user_data, version)


@contextmanager
def _errors_of(part: str, *, wraps_errors: bool) -> Iterator[None]:
    """Give failures of fields the exception that wraps them."""
    try:
        yield
    except CorruptProtocolBytes as failure:
        if wraps_errors:
            failure.kafka = KafkaError("SchemaException", f"Malformed consumer protocol {part}")
        raise


def _version(reader: GeneratedReader, part: str) -> tuple[int, int]:
    """The version as written, and the one to read by."""
    version = reader.version()
    if version < 0:
        raise reader.reject(0, "a version from 0", str(version), _unsupported(version, part))
    return version, min(version, NEWEST_VERSION)


def _unsupported(version: int, part: str) -> KafkaError:
    return KafkaError("SchemaException", f"Unsupported {part} version: {version}")
