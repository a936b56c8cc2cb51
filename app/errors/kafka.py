"""Input on which Kafka's own code fails."""

from dataclasses import dataclass

from app.errors.failure import FieldPath, Json, Unprocessable
from app.errors.requests import MalformedText


@dataclass(frozen=True, slots=True)
class KafkaError:
    """The exception of Kafka's own code: its simple class name and, for Kafka's own classes, its message."""

    exception: str
    message: str | None = None


class KafkaRefuses(Unprocessable):
    """Base of the failures that Kafka's own code raises on the same input."""

    kafka: KafkaError

    def __init__(self, detail: str, *, kafka: KafkaError, path: FieldPath = (), **context: Json) -> None:
        super().__init__(detail, path=path, **context)
        self.kafka = kafka


class InvalidPartitions(KafkaRefuses):
    """The number of partitions is not positive."""

    title = "The number of partitions is invalid"


class InvalidReplicationFactor(KafkaRefuses):
    """The replication factor is not positive, or exceeds the number of available brokers."""

    title = "The replication factor is invalid"


class BrokersWithoutRack(KafkaRefuses):
    """Some brokers have a rack and others have none, and the rack mode is `enforced`."""

    title = "Racks are enforced and some brokers have none"


class ArithmeticOverflow(KafkaRefuses):
    """Kafka's 32-bit arithmetic overflows, and its code fails on the result."""

    title = "Kafka's 32-bit arithmetic overflows"


class NoMembers(KafkaRefuses):
    """The group has no members, and Kafka's assignor requires one."""

    title = "The group has no members"


class SubscribedTopicMissing(KafkaRefuses):
    """A member subscribes to a topic that the coordinator does not know."""

    title = "A member subscribes to a topic that does not exist"


class OwnedPartitionMissing(KafkaRefuses):
    """A member owns a partition that its topic does not have, and Kafka's assignor fails on it."""

    title = "A member owns a partition that does not exist"


class AssignorLosesCount(KafkaRefuses):
    """The assignor itself fails: it looks up a member that it has removed, or its counts are inconsistent."""

    title = "The assignor fails on this group"


class AssignorRunsOutOfMembers(KafkaRefuses):
    """Kafka's assignor of share groups fails: a partition lacks a member, and no member has too few partitions."""

    title = "Kafka's simple assignor fails on this share group"


class AssignorNeverEnds(Unprocessable):
    """Kafka's sticky assignor moves partitions back and forth without end, so there is no result to predict."""

    title = "Kafka's sticky assignor does not terminate"


class PartitionsLeftUnassigned(KafkaRefuses):
    """With the partitions that members own, Kafka's assignor cannot assign all partitions and fails."""

    title = "Partitions would be left unassigned"


class NoClients(KafkaRefuses):
    """The Streams application has no clients, and Kafka's assignor requires one."""

    title = "The application has no clients"


class NoMembersForTasks(KafkaRefuses):
    """The streams group has tasks and no members, and the coordinator's assignor fails."""

    title = "The streams group has no members"


class ClientWithoutThreads(KafkaRefuses):
    """A Streams client has no stream threads, and Kafka's sticky assignor divides by their number."""

    title = "A client has no stream threads"


class UnknownTaskLag(KafkaRefuses):
    """The lag of a Streams client in a stateful task is unknown."""

    title = "The lag of a stateful task is unknown"


class TagsBeyondLimits(KafkaRefuses):
    """A Streams client has too many tags, or a key or value that is too long, and does not start."""

    title = "Client tags are too many or too long"


class TaskPartitionsUnknown(KafkaRefuses):
    """A Streams task is assigned by rack, and it reads no partitions or partitions of unknown racks."""

    title = "The partitions of a task or their racks are unknown"


class RackCostsOverflow(Unprocessable):
    """The costs of racks overflow 32 bits, so Kafka's own code would exchange tasks without end."""

    title = "The costs of racks overflow, and Kafka does not terminate"


class InconsistentTasks(KafkaRefuses):
    """A Streams task has an assignment that no assignor produces: active twice or nowhere, or twice on a client."""

    title = "A task has an impossible assignment"


class TooManyTasks(KafkaRefuses):
    """The number of pairs of tasks overflows 32 bits, and Kafka's sticky assignor allocates a table of that size."""

    title = "Kafka's sticky assignor cannot handle this many tasks"


class CorruptProtocolBytes(KafkaRefuses, MalformedText):
    """Bytes of the consumer protocol end too early or contain an impossible count; names the byte offset."""

    title = "The bytes are not of the consumer protocol"
