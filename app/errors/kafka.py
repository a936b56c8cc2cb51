"""Input that Kafka itself rejects."""

from dataclasses import dataclass

from app.errors.failure import FieldPath, Json, Unprocessable
from app.errors.texts import MalformedText


@dataclass(frozen=True, slots=True)
class KafkaError:
    """What Kafka's own code throws: the exception's simple class name and, for Kafka's own classes, its message."""

    exception: str
    message: str | None = None


class KafkaRefuses(Unprocessable):
    """Category: Kafka's own code rejects the same input, with the exception in `kafka`."""

    kafka: KafkaError

    def __init__(self, detail: str, *, kafka: KafkaError, path: FieldPath = (), **context: Json) -> None:
        super().__init__(detail, path=path, **context)
        self.kafka = kafka


class InvalidPartitions(KafkaRefuses):
    """The number of partitions is not positive."""

    title = "The number of partitions is not possible"


class InvalidReplicationFactor(KafkaRefuses):
    """The replication factor is not positive, or larger than the number of eligible brokers."""

    title = "The replication factor is not possible"


class BrokersWithoutRack(KafkaRefuses):
    """Racks are enforced, and some brokers have a rack while others have none."""

    title = "Racks are enforced and some brokers have none"


class ArithmeticOverflow(KafkaRefuses):
    """Kafka's 32-bit arithmetic overflows and its code fails on the result."""

    title = "Kafka's 32-bit arithmetic overflows"


class NoMembers(KafkaRefuses):
    """The group has no members; Kafka's assignor needs at least one."""

    title = "The group has no members"


class SubscribedTopicMissing(KafkaRefuses):
    """A member subscribes to a topic that the coordinator does not know."""

    title = "A member subscribes to a topic that does not exist"


class OwnedPartitionMissing(KafkaRefuses):
    """A member owns a partition beyond its topic's last, and Kafka's assignor fails on it."""

    title = "A member owns a partition that does not exist"


class AssignorLosesCount(KafkaRefuses):
    """Kafka's sticky assignor looks up a member that it has excluded, or its counts are inconsistent."""

    title = "Kafka's sticky assignor loses count"


class AssignorNeverEnds(Unprocessable):
    """Kafka's own code would move partitions back and forth endlessly; there is no assignment to predict."""

    title = "Kafka's sticky assignor does not come to an end"


class PartitionsLeftUnassigned(KafkaRefuses):
    """The owned partitions leave partitions that no member can take, and Kafka's assignor fails."""

    title = "Partitions would be left without a member"


class NoClients(KafkaRefuses):
    """The Streams application has no client; Kafka's assignor needs at least one."""

    title = "The application has no client"


class ClientWithoutThreads(KafkaRefuses):
    """A Streams client has no stream thread, and Kafka's sticky assignor divides by their number."""

    title = "A client has no stream thread"


class UnknownTaskLag(KafkaRefuses):
    """The lag of a Streams client in a stateful task is not known."""

    title = "A stateful task's lag is not known"


class TagsBeyondLimits(KafkaRefuses):
    """A Streams client has too many tags, or a key or a value that is too long, and does not start."""

    title = "Client tags are too many or too long"


class TaskPartitionsUnknown(KafkaRefuses):
    """Rack-aware assignment needs the partitions of each Streams task and their racks; some are not known."""

    title = "A task's partitions or their racks are not known"


class RackCostsOverflow(Unprocessable):
    """Rack costs overflow 32 bits, so that Kafka's own code would swap tasks endlessly."""

    title = "Costs of racks overflow, and Kafka does not come to an end"


class InconsistentTasks(KafkaRefuses):
    """A Streams task is active more than once or nowhere, or is on one client twice; no assignor leaves that state."""

    title = "A task is assigned in an impossible way"


class TooManyTasks(KafkaRefuses):
    """The number of task pairs overflows 32 bits; Kafka's sticky assignor allocates a table of that size."""

    title = "Kafka's sticky assignor cannot count that many tasks"


class CorruptProtocolBytes(KafkaRefuses, MalformedText):
    """Bytes of the consumer protocol that are truncated or contain an impossible count; names the offset."""

    title = "The bytes are not of the consumer protocol"


class NotSerializable(KafkaRefuses):
    """Kafka's own code cannot serialise the value: a negative version, or a string too long for its length field."""

    title = "Kafka cannot write this"
