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


class InvalidPartitions(KafkaRefuses, title="The number of partitions is invalid"):
    """The number of partitions is not positive."""


class InvalidReplicationFactor(KafkaRefuses, title="The replication factor is invalid"):
    """The replication factor is not positive, or exceeds the number of available brokers."""


class BrokersWithoutRack(KafkaRefuses, title="Racks are enforced and some brokers have none"):
    """Some brokers have a rack and others have none, and the rack mode is `enforced`."""


class ArithmeticOverflow(KafkaRefuses, title="Kafka's 32-bit arithmetic overflows"):
    """Kafka's 32-bit arithmetic overflows, and its code fails on the result."""


class NoMembers(KafkaRefuses, title="The group has no members"):
    """The group has no members, and Kafka's assignor requires one."""


class SubscribedTopicMissing(KafkaRefuses, title="A member subscribes to a topic that does not exist"):
    """A member subscribes to a topic that the coordinator does not know."""


class OwnedPartitionMissing(KafkaRefuses, title="A member owns a partition that does not exist"):
    """A member owns a partition that its topic does not have, and Kafka's assignor fails on it."""


class AssignorLosesCount(KafkaRefuses, title="The assignor fails on this group"):
    """The assignor itself fails: it looks up a member that it has removed, or its counts are inconsistent."""


class AssignorRunsOutOfMembers(KafkaRefuses, title="Kafka's simple assignor fails on this share group"):
    """Kafka's assignor of share groups fails: a partition lacks a member, and no member has too few partitions."""


class AssignorNeverEnds(Unprocessable, title="Kafka's sticky assignor does not terminate"):
    """Kafka's sticky assignor moves partitions back and forth without end, so there is no result to predict."""


class PartitionsLeftUnassigned(KafkaRefuses, title="Partitions would be left unassigned"):
    """With the partitions that members own, Kafka's assignor cannot assign all partitions and fails."""


class NoClients(KafkaRefuses, title="The application has no clients"):
    """The Streams application has no clients, and Kafka's assignor requires one."""


class NoMembersForTasks(KafkaRefuses, title="The streams group has no members"):
    """The streams group has tasks and no members, and the coordinator's assignor fails."""


class ClientWithoutThreads(KafkaRefuses, title="A client has no stream threads"):
    """A Streams client has no stream threads, and Kafka's sticky assignor divides by their number."""


class UnknownTaskLag(KafkaRefuses, title="The lag of a stateful task is unknown"):
    """The lag of a Streams client in a stateful task is unknown."""


class TagsBeyondLimits(KafkaRefuses, title="Client tags are too many or too long"):
    """A Streams client has too many tags, or a key or value that is too long, and does not start."""


class TaskPartitionsUnknown(KafkaRefuses, title="The partitions of a task or their racks are unknown"):
    """A Streams task is assigned by rack, and it reads no partitions or partitions of unknown racks."""


class RackCostsOverflow(Unprocessable, title="The costs of racks overflow, and Kafka does not terminate"):
    """The costs of racks overflow 32 bits, so Kafka's own code would exchange tasks without end."""


class InconsistentTasks(KafkaRefuses, title="A task has an impossible assignment"):
    """A Streams task has an assignment that no assignor produces: active twice or nowhere, or twice on a client."""


class TooManyTasks(KafkaRefuses, title="Kafka's sticky assignor cannot handle this many tasks"):
    """The number of pairs of tasks overflows 32 bits, and Kafka's sticky assignor allocates a table of that size."""


class CorruptProtocolBytes(KafkaRefuses, MalformedText, title="The bytes are not of the consumer protocol"):
    """Bytes of the consumer protocol end too early or contain an impossible count; names the byte offset."""
