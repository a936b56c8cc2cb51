"""What Kafka itself would refuse."""

from dataclasses import dataclass

from app.errors.failure import Failure, FieldPath, Json
from app.errors.texts import MalformedText


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


class NoMembers(KafkaRefuses):
    """The group has no members, where Kafka's assignor needs one."""

    code = "no_members"
    title = "The group has no members"


class SubscribedTopicMissing(KafkaRefuses):
    """A member subscribes to a topic that the coordinator does not know."""

    code = "subscribed_topic_missing"
    title = "A member subscribes to a topic that does not exist"


class OwnedPartitionMissing(KafkaRefuses):
    """A member owns a partition beyond its topic's last, and Kafka's assignor fails on it."""

    code = "owned_partition_missing"
    title = "A member owns a partition that does not exist"


class AssignorLosesCount(KafkaRefuses):
    """Kafka's sticky assignor looks up a member that it has set aside, or finds that its counts do not add up."""

    code = "assignor_loses_count"
    title = "Kafka's sticky assignor loses count"


class AssignorNeverEnds(Failure):
    """Kafka's own code would move partitions to and fro for ever, so that there is no answer to predict."""

    code = "assignor_never_ends"
    title = "Kafka's sticky assignor does not come to an end"


class PartitionsLeftUnassigned(KafkaRefuses):
    """What members own leaves no room for all partitions, and Kafka's assignor gives up."""

    code = "partitions_left_unassigned"
    title = "Partitions would be left without a member"


class NoClients(KafkaRefuses):
    """The Streams application has no client, where Kafka's assignor needs one."""

    code = "no_clients"
    title = "The application has no client"


class ClientWithoutThreads(KafkaRefuses):
    """A Streams client has no stream thread, and Kafka's sticky assignor divides by how many it has."""

    code = "client_without_threads"
    title = "A client has no stream thread"


class UnknownTaskLag(KafkaRefuses):
    """Nobody knows how far a Streams client is behind in a stateful task."""

    code = "unknown_task_lag"
    title = "A stateful task's lag is not known"


class TagsBeyondLimits(KafkaRefuses):
    """A Streams client has too many tags, or a key or a value that is too long, and does not start."""

    code = "tags_beyond_limits"
    title = "Client tags are too many or too long"


class TaskPartitionsUnknown(KafkaRefuses):
    """Racks decide where a Streams task goes, and it reads no partition, or one whose racks are not known."""

    code = "task_partitions_unknown"
    title = "A task's partitions or their racks are not known"


class RackCostsOverflow(Failure):
    """Costs of racks overflow 32 bits so that Kafka's own code would let tasks change places for ever."""

    code = "rack_costs_overflow"
    title = "Costs of racks overflow, and Kafka does not come to an end"


class InconsistentTasks(KafkaRefuses):
    """A Streams task is held in a way that no assignor leaves behind: active twice or nowhere, or twice on a client."""

    code = "inconsistent_tasks"
    title = "A task is assigned in an impossible way"


class TooManyTasks(KafkaRefuses):
    """The number of pairs of tasks overflows 32 bits, and Kafka's sticky assignor asks for a table of that size."""

    code = "too_many_tasks"
    title = "Kafka's sticky assignor cannot count that many tasks"


class CorruptProtocolBytes(KafkaRefuses, MalformedText):
    """Bytes of the consumer protocol that end too early or count what cannot be there; names the byte."""

    code = "corrupt_protocol_bytes"
    title = "The bytes are not of the consumer protocol"


class NotSerializable(KafkaRefuses):
    """What Kafka's own code does not write: a negative version, a string longer than its length can say."""

    code = "not_serializable"
    title = "Kafka cannot write this"
