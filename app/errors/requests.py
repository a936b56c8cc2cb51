"""Requests that are invalid, contradictory or too large."""

from app.errors.failure import Failure, Unprocessable


class DuplicateBroker(Unprocessable):
    """One broker id is listed more than once."""

    title = "A broker is listed twice"


class DuplicateTopic(Unprocessable):
    """One topic is listed more than once, or two topics have the same topic id."""

    title = "A topic is listed twice"


class DuplicatePartition(Unprocessable):
    """One partition is listed more than once, lists one replica twice, or has two offsets of one group."""

    title = "A partition or one of its replicas is listed twice"


class UnknownPartition(Unprocessable):
    """The request names a partition that the topic does not have."""

    title = "The topic has no such partition"


class QueueSizesOverflow(Unprocessable):
    """The queue sizes overflow Kafka's cumulative frequency table; what its client chooses then is not predicted."""

    title = "The queue sizes overflow Kafka's 32-bit table"


class DuplicateGroup(Unprocessable):
    """One consumer group is listed more than once."""

    title = "A group is listed twice"


class DuplicateMember(Unprocessable):
    """One member of a group is listed more than once, by its id or its group instance id."""

    title = "A member is listed twice"


class DuplicateClient(Unprocessable):
    """One client of a Streams application is listed more than once, by its process id."""

    title = "A client is listed twice"


class MalformedKey(Unprocessable):
    """A record key does not match its encoding."""

    title = "A key is not what its encoding says"


class InvalidField(Unprocessable):
    """Fields of a request are missing, unknown or out of range; `errors` lists each of them, the detail the first."""

    code = "validation"
    title = "A field is not what it has to be"


class ConflictingFields(Unprocessable):
    """Two fields exclude each other, or a field needs another one that is missing."""

    title = "Two fields do not go together"


class DuplicateAttribute(Unprocessable):
    """An awareness attribute, or a forced value of one, is listed more than once."""

    title = "An attribute is listed twice"


class AttributeMissing(Unprocessable):
    """Live brokers have no value for an awareness attribute; names them."""

    title = "Brokers lack an attribute that counts"


class ForcedAttributeNotListed(Unprocessable):
    """Forced values are given for an attribute that is not an awareness attribute; lists those that are."""

    title = "Values of an attribute that does not count are forced"


class TooFewValues(Unprocessable):
    """The brokers have fewer values of an attribute than a hard constraint of the policy needs; states how many."""

    title = "The policy cannot be kept with so few failure domains"


class ImpossibleValue(Unprocessable):
    """One value of a scenario is invalid by itself: of another type, out of range, or unknown."""

    title = "A value cannot be"


class UnknownAxis(Unprocessable):
    """An axis of a sweep names no field of a scenario; lists the fields."""

    title = "The sweep varies something that a scenario does not have"


class EmptyAxis(Unprocessable):
    """An axis of a sweep has no values."""

    title = "An axis of the sweep has no values"


class UnknownFigure(Unprocessable):
    """The scenarios of a sweep are sorted or filtered by a figure that its kind does not have; lists its figures."""

    title = "The sweep's scenarios have no such figure"


class NotForThisKind(Unprocessable):
    """The kind of the sweep does not have the requested resource; names the ones that it has."""

    title = "A sweep of this kind has no answer to that"


class DatasetNotAllowed(Unprocessable):
    """A dataset is outside the roots that the operator allows; does not reveal whether it exists."""

    title = "The dataset is outside the allowed roots"


class DatasetNotFound(Unprocessable):
    """An allowed path has no dataset: it does not exist, or is a folder without files of the format."""

    title = "There is no such dataset"


class DatasetUnreadable(Unprocessable):
    """A file of a dataset is damaged, has another format, or cannot be opened by the executor; names it."""

    title = "The dataset cannot be read"


class DatasetEmpty(Unprocessable):
    """A dataset has no record."""

    title = "The dataset has no records"


class ColumnNotFound(Unprocessable):
    """A dataset has no column with this name; lists its columns if they are known."""

    title = "The dataset has no such column"


class KeyColumnOfAnotherType(Unprocessable):
    """The type of the key column does not fit the encoding; names both."""

    title = "The key column is of another type"


class ValueColumnOfAnotherType(Unprocessable):
    """The value column contains neither values nor their lengths; names its type."""

    title = "The value column is of another type"


class IllegalReassignment(Unprocessable):
    """A reassignment that Kafka rejects entirely: an unknown broker or partition, or a replica listed twice."""

    title = "Kafka would refuse this reassignment"


class MoveExceedsBatchLimit(Unprocessable):
    """One replica alone exceeds the bytes that a broker may receive in one batch; names the broker and both sizes."""

    title = "A replica is larger than a batch may be"


class BatchesOutOfDisk(Unprocessable):
    """No order of the moves keeps every disk within its capacity; names the broker and the missing bytes."""

    title = "The disks have no room for the next move"


class LimitExceeded(Failure):
    """The request exceeds a limit in the settings of the service; names the limit and both numbers."""

    title = "The request is larger than this service's limit"


class TooManySweeps(Failure):
    """The API key has reached its limit of unfinished sweeps."""

    title = "Enough sweeps are on the way"


class SnapshotChanged(Failure):
    """A newer snapshot of the cluster differs from the one that `If-Match` names."""

    title = "The cluster has changed since that snapshot"


class NotExportable(Unprocessable):
    """The plan cannot be written in the requested format."""

    title = "The plan does not fit this format"
