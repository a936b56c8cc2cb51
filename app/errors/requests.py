"""Requests that are invalid, contradictory or too large."""

from app.errors.failure import Failure


class DuplicateBroker(Failure):
    """A broker id is listed more than once."""

    code = "duplicate_broker"
    title = "A broker is listed twice"


class DuplicateTopic(Failure):
    """A topic is listed more than once, or two topics have the same topic id."""

    code = "duplicate_topic"
    title = "A topic is listed twice"


class DuplicatePartition(Failure):
    """A partition is listed more than once, lists a replica twice, or has two offsets of one group."""

    code = "duplicate_partition"
    title = "A partition or one of its replicas is listed twice"


class UnknownPartition(Failure):
    """The request names a partition that the topic does not have."""

    code = "unknown_partition"
    title = "Unknown partition"


class QueueSizesOverflow(Failure):
    """The queue sizes overflow Kafka's table of cumulative frequencies, so its result cannot be predicted."""

    code = "queue_sizes_overflow"
    title = "The queue sizes overflow Kafka's 32-bit table"


class DuplicateGroup(Failure):
    """A consumer group is listed more than once."""

    code = "duplicate_group"
    title = "A group is listed twice"


class DuplicateMember(Failure):
    """A member id or group instance id is listed more than once."""

    code = "duplicate_member"
    title = "A member is listed twice"


class DuplicateClient(Failure):
    """A process id of a Streams client is listed more than once."""

    code = "duplicate_client"
    title = "A client is listed twice"


class MalformedKey(Failure):
    """The key of a record does not match its encoding."""

    code = "malformed_key"
    title = "A key does not match its encoding"


class InvalidField(Failure):
    """Fields are missing, unknown or out of range; `errors` lists each one, the detail states the first."""

    code = "validation"
    title = "A field is invalid"


class ConflictingFields(Failure):
    """Two fields exclude each other, or a field requires another one that is missing."""

    code = "conflicting_fields"
    title = "Fields conflict"


class DuplicateAttribute(Failure):
    """An awareness attribute, or a forced value of one, is listed more than once."""

    code = "duplicate_attribute"
    title = "An attribute is listed twice"


class AttributeMissing(Failure):
    """Live brokers lack an awareness attribute; names the brokers."""

    code = "attribute_missing"
    title = "Brokers lack an awareness attribute"


class ForcedAttributeNotListed(Failure):
    """Values are forced for an attribute that is not in `attributes`; lists those that are."""

    code = "forced_attribute_not_listed"
    title = "A forced attribute is not an awareness attribute"


class TooFewValues(Failure):
    """The brokers have too few values of an attribute for the policy; has the number that it requires."""

    code = "too_few_values"
    title = "Too few failure domains for the policy"


class ImpossibleValue(Failure):
    """A value of a scenario has the wrong type, is out of range or unknown."""

    code = "impossible_value"
    title = "A value is invalid"


class UnknownAxis(Failure):
    """An axis of a sweep names a field that a scenario does not have; lists the fields."""

    code = "unknown_axis"
    title = "Unknown axis"


class EmptyAxis(Failure):
    """An axis of a sweep has no values."""

    code = "empty_axis"
    title = "An axis has no values"


class UnknownFigure(Failure):
    """The sweep's kind does not have the requested figure; lists its figures."""

    code = "unknown_figure"
    title = "Unknown figure"


class NotForThisKind(Failure):
    """The operation does not exist for this kind of sweep; names an alternative."""

    code = "not_for_this_kind"
    title = "Not available for this kind of sweep"


class DatasetNotAllowed(Failure):
    """The dataset is outside the roots that the operator allows; does not reveal whether it exists."""

    code = "dataset_not_allowed"
    title = "The dataset is outside the allowed roots"


class DatasetNotFound(Failure):
    """The path of the dataset does not exist, or contains no file of the format."""

    code = "dataset_not_found"
    title = "Dataset not found"


class DatasetUnreadable(Failure):
    """A file of the dataset is damaged, has another format, or cannot be opened; names the file."""

    code = "dataset_unreadable"
    title = "The dataset cannot be read"


class DatasetEmpty(Failure):
    """The dataset has no records."""

    code = "dataset_empty"
    title = "The dataset has no records"


class ColumnNotFound(Failure):
    """The dataset has no column with this name; lists its columns if they are known."""

    code = "column_not_found"
    title = "Column not found"


class KeyColumnOfAnotherType(Failure):
    """The type of the key column does not match the key encoding; names both."""

    code = "key_column_of_another_type"
    title = "The key column has the wrong type"


class ValueColumnOfAnotherType(Failure):
    """The value column contains neither values nor their lengths; names its type."""

    code = "value_column_of_another_type"
    title = "The value column has the wrong type"


class IllegalReassignment(Failure):
    """Kafka rejects the reassignment as a whole: an unknown broker or partition, or a replica listed twice."""

    code = "illegal_reassignment"
    title = "Kafka rejects this reassignment"


class MoveExceedsBatchLimit(Failure):
    """A single replica is larger than a broker may receive in a batch; names the broker and both numbers of bytes."""

    code = "move_exceeds_batch_limit"
    title = "A replica exceeds the batch limit"


class BatchesOutOfDisk(Failure):
    """No order of the moves keeps every disk within its limit; names the broker and the missing bytes."""

    code = "batches_out_of_disk"
    title = "Disks have no capacity for the next move"


class LimitExceeded(Failure):
    """The request exceeds a limit of the service's settings; names the limit and both numbers."""

    code = "limit_exceeded"
    title = "The request exceeds a limit of the service"


class TooManySweeps(Failure):
    """The API key has the maximum number of active sweeps."""

    code = "too_many_sweeps"
    title = "Too many active sweeps"


class SnapshotChanged(Failure):
    """The cluster has changed since the snapshot that If-Match names."""

    code = "snapshot_changed"
    title = "The cluster has changed since the snapshot"


class NotExportable(Failure):
    """The plan cannot be written in the requested format."""

    code = "not_exportable"
    title = "The plan does not fit this format"
