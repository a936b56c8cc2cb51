"""What a request says that cannot be."""

from app.errors.failure import Failure


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


class InvalidField(Failure):
    """Fields of a request are missing, unknown or beyond their limits; `errors` names each, the detail the first."""

    code = "validation"
    title = "A field is not what it has to be"


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


class MoveExceedsBatchLimit(Failure):
    """One replica alone has more bytes than a broker may take in one batch; names the broker and both figures."""

    code = "move_exceeds_batch_limit"
    title = "A replica is larger than a batch may be"


class BatchesOutOfDisk(Failure):
    """Moves cannot be ordered so that every disk has room at any time; names the broker, and how much is missing."""

    code = "batches_out_of_disk"
    title = "The disks have no room for the next move"


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
