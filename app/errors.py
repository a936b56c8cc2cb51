"""The domain's failures: what can go wrong, as facts that a caller can act on.

Every failure has a stable `code`, a title, a detail that carries the numbers and a JSON-safe context. What HTTP status
it becomes is decided at the edge (`app.api.statuses`). Failures survive pickling, since they cross process borders.
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

    def __init__(
        self, detail: str, *, line: int | None = None, expected: str = "", path: FieldPath = (), **context: Json
    ) -> None:
        where = f"line {line}: " if line is not None else ""
        super().__init__(where + detail, path=path)
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


# -- what is not there, or already is ----------------------------------------------------------------------------


class SnapshotNotFound(Failure):
    """No snapshot has this id."""

    code = "snapshot_not_found"
    title = "There is no such snapshot"


class PlanNotFound(Failure):
    """No plan has this id."""

    code = "plan_not_found"
    title = "There is no such plan"


class JobNotFound(Failure):
    """No job has this id."""

    code = "job_not_found"
    title = "There is no such job"


class SweepNotFound(Failure):
    """No sweep has this id."""

    code = "sweep_not_found"
    title = "There is no such sweep"


class ScenarioNotFound(Failure):
    """The sweep has no scenario of this index, or has not scored it yet."""

    code = "scenario_not_found"
    title = "There is no such scenario"


class ApiKeyNotFound(Failure):
    """No API key has this name."""

    code = "api_key_not_found"
    title = "There is no such API key"


class ApiKeyNameTaken(Failure):
    """Another API key has this name."""

    code = "api_key_name_taken"
    title = "The name of an API key is taken"


# -- what the request says that cannot be ------------------------------------------------------------------------


class DuplicateBroker(Failure):
    """One broker id is listed more than once."""

    code = "duplicate_broker"
    title = "A broker is listed twice"


class DuplicateTopic(Failure):
    """One topic is asked for more than once, or two have one topic id."""

    code = "duplicate_topic"
    title = "A topic is listed twice"


class DuplicatePartition(Failure):
    """One partition is listed more than once, names one replica twice, or has two offsets of one group."""

    code = "duplicate_partition"
    title = "A partition or one of its replicas is listed twice"


class UnknownPartition(Failure):
    """A partition is named that the topic does not have."""

    code = "unknown_partition"
    title = "The topic has no such partition"


class QueueSizesOverflow(Failure):
    """Queue sizes so large that Kafka's table of them overflows; what its client draws then is not predicted."""

    code = "queue_sizes_overflow"
    title = "The queue sizes overflow Kafka's 32-bit table"


class DuplicateGroup(Failure):
    """One consumer group is listed more than once."""

    code = "duplicate_group"
    title = "A group is listed twice"


class DuplicateMember(Failure):
    """One member of a group is listed more than once, by its id or its group instance id."""

    code = "duplicate_member"
    title = "A member is listed twice"


class DuplicateClient(Failure):
    """One client of a Streams application is listed more than once, by its process id."""

    code = "duplicate_client"
    title = "A client is listed twice"


class MalformedKey(Failure):
    """A record's key is not what its encoding says."""

    code = "malformed_key"
    title = "A key is not what its encoding says"


class ConflictingFields(Failure):
    """Two fields exclude each other, or one needs another that is not there."""

    code = "conflicting_fields"
    title = "Two fields do not go together"


class DuplicateAttribute(Failure):
    """An attribute that placement is to be aware of, or a forced value of one, is listed more than once."""

    code = "duplicate_attribute"
    title = "An attribute is listed twice"


class AttributeMissing(Failure):
    """Live brokers lack an attribute that placement is to be aware of; names them."""

    code = "attribute_missing"
    title = "Brokers lack an attribute that counts"


class ForcedAttributeNotListed(Failure):
    """Values are forced of an attribute that placement is not aware of; names those that it is."""

    code = "forced_attribute_not_listed"
    title = "Values of an attribute that does not count are forced"


class TooFewValues(Failure):
    """The brokers have too few values of an attribute for what the policy never breaks; carries how many it needs."""

    code = "too_few_values"
    title = "The policy cannot be kept with so few failure domains"


class ImpossibleValue(Failure):
    """One value of a scenario cannot be, whatever the others are: of another type, beyond its limit, or unknown."""

    code = "impossible_value"
    title = "A value cannot be"


class UnknownAxis(Failure):
    """An axis of a sweep names nothing that a scenario has; carries what there is."""

    code = "unknown_axis"
    title = "The sweep varies something that a scenario does not have"


class EmptyAxis(Failure):
    """An axis of a sweep has no values."""

    code = "empty_axis"
    title = "An axis of the sweep has no values"


class UnknownFigure(Failure):
    """The scenarios of a sweep are asked for by a figure that its kind does not have; carries those that it has."""

    code = "unknown_figure"
    title = "The sweep's scenarios have no such figure"


class NotForThisKind(Failure):
    """A sweep is asked for what its kind does not have; says what is there instead."""

    code = "not_for_this_kind"
    title = "A sweep of this kind has no answer to that"


class DatasetNotAllowed(Failure):
    """A dataset lies outside the roots that the operator allows; says nothing about what is there."""

    code = "dataset_not_allowed"
    title = "The dataset is outside the allowed roots"


class DatasetNotFound(Failure):
    """An allowed path has no dataset: nothing is there, or a folder without files of the format."""

    code = "dataset_not_found"
    title = "There is no such dataset"


class DatasetUnreadable(Failure):
    """A file of a dataset is damaged, of another format, or cannot be opened where it is read; names it."""

    code = "dataset_unreadable"
    title = "The dataset cannot be read"


class DatasetEmpty(Failure):
    """A dataset has no record."""

    code = "dataset_empty"
    title = "The dataset has no records"


class ColumnNotFound(Failure):
    """A dataset has no column of the name given; says which there are where that is known."""

    code = "column_not_found"
    title = "The dataset has no such column"


class KeyColumnOfAnotherType(Failure):
    """The key column's values are not what the encoding needs; names both."""

    code = "key_column_of_another_type"
    title = "The key column is of another type"


class ValueColumnOfAnotherType(Failure):
    """The value column holds neither values nor their lengths; names what it holds."""

    code = "value_column_of_another_type"
    title = "The value column is of another type"


class IllegalReassignment(Failure):
    """A reassignment that Kafka refuses whole: an unknown broker or partition, or a replica named twice."""

    code = "illegal_reassignment"
    title = "Kafka would refuse this reassignment"


class LimitExceeded(Failure):
    """More was asked for than this service's settings allow."""

    code = "limit_exceeded"
    title = "The request is larger than this service's limit"


class TooManySweeps(Failure):
    """One API key has as many sweeps on the way as it may have."""

    code = "too_many_sweeps"
    title = "Enough sweeps are on the way"


class SnapshotChanged(Failure):
    """The cluster has been seen in another state since the snapshot that If-Match names."""

    code = "snapshot_changed"
    title = "The cluster has changed since that snapshot"


class NotExportable(Failure):
    """The plan cannot be written in the format that was asked for."""

    code = "not_exportable"
    title = "The plan does not fit this format"


# -- what the operator's machine says no to ----------------------------------------------------------------------


class MachineRefuses(Failure):
    """Base of the failures that only whoever runs the server can mend."""


class DataFolderUnreachable(MachineRefuses):
    """The data folder cannot be made, or the account that runs Postgres cannot get to it; names the obstacle."""

    code = "data_folder_unreachable"
    title = "The data folder cannot be reached"


class DataFolderInUse(MachineRefuses):
    """Another live process runs the embedded Postgres of this data folder."""

    code = "data_folder_in_use"
    title = "The data folder is in use by another process"


class DataFolderOwnedByAnother(MachineRefuses):
    """The data folder was first used by another account, whose files this one may not touch."""

    code = "data_folder_owned_by_another"
    title = "The data folder belongs to another account"


class DataFolderOtherVersion(MachineRefuses):
    """The data folder was written by another major version of Postgres than the one installed."""

    code = "data_folder_other_version"
    title = "The data folder is of another Postgres version"


class EmbeddedPostgresFailed(MachineRefuses):
    """The embedded Postgres is missing, cannot be started or does not answer; carries its own last words."""

    code = "embedded_postgres_failed"
    title = "The embedded Postgres does not run"


class ExtraNotInstalled(MachineRefuses):
    """What was asked for needs an optional part of Rackplan that is not installed; names it."""

    code = "extra_not_installed"
    title = "An optional part of Rackplan is not installed"


class ClusterUnreachable(MachineRefuses):
    """A running Kafka cluster does not answer, not in time, or refuses the client; says which server and why."""

    code = "cluster_unreachable"
    title = "The Kafka cluster cannot be read"


class JavaNotFound(MachineRefuses):
    """No Java that Spark runs on; says where it was looked for and what was there."""

    code = "java_not_found"
    title = "There is no Java for Spark"


class SparkUnavailable(MachineRefuses):
    """The Spark master does not answer, gives no executors or was lost; names its address."""

    code = "spark_unavailable"
    title = "Spark cannot be reached"


class SparkJobFailed(MachineRefuses):
    """A job on Spark ended with an error that is none of ours; carries what the executor or the driver said."""

    code = "spark_job_failed"
    title = "The job on Spark failed"


class SparkJobCancelled(MachineRefuses):
    """A job on Spark was cancelled, by whoever asked for that."""

    code = "spark_job_cancelled"
    title = "The job on Spark was cancelled"


class OutputNotWritable(MachineRefuses):
    """The file that the answer was to be written to cannot be written."""

    code = "output_not_writable"
    title = "The file cannot be written"


class ApiKeyNeeded(MachineRefuses):
    """Other machines can reach the address, and there is no API key that would keep them out."""

    code = "api_key_needed"
    title = "An open service listens on this machine only"


# -- who asks, and how often -------------------------------------------------------------------------------------


class Unauthenticated(Failure):
    """No API key, or one that is not valid."""

    code = "unauthenticated"
    title = "A valid API key is needed"


class Forbidden(Failure):
    """The API key lacks the scope that the operation needs, or a page of another origin sent the request."""

    code = "forbidden"
    title = "Not allowed"


class IdempotencyKeyReused(Failure):
    """The Idempotency-Key was used for another request before."""

    code = "idempotency_key_reused"
    title = "The Idempotency-Key belongs to another request"


class IdempotencyKeyInFlight(Failure):
    """The request with this Idempotency-Key is being answered right now."""

    code = "idempotency_key_in_flight"
    title = "The request with this Idempotency-Key is still being answered"


class NotAcceptable(Failure):
    """None of the media types that the caller accepts can be given."""

    code = "not_acceptable"
    title = "No acceptable representation"


class UnsupportedMediaType(Failure):
    """The body is of a media type that the operation does not take."""

    code = "unsupported_media_type"
    title = "The body's media type is not supported"


class InvalidPageToken(Failure):
    """The page token is not one that a page of this list gave."""

    code = "invalid_page_token"
    title = "The page token is not valid"
