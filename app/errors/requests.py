"""Requests that are invalid, contradictory or too large."""

from app.errors.failure import Conflict, Failure, FieldPath, Json, NotFound, Unprocessable


class DuplicateBroker(Unprocessable):
    """A broker id is listed more than once."""

    title = "A broker is listed twice"


class UnrelatedBrokers(Unprocessable):
    """No broker that holds a replica is among the listed ones, as when the texts are of two clusters."""

    title = "The brokers and the topics are not of one cluster"


class DuplicateTopic(Unprocessable):
    """A topic is listed more than once, or two topics have the same topic id."""

    title = "A topic is listed twice"


class DuplicatePartition(Unprocessable):
    """A partition is listed more than once, lists a replica twice, or has two offsets of one group."""

    title = "A partition or one of its replicas is listed twice"


class DuplicateLogDir(Unprocessable):
    """A log directory of a broker is listed more than once."""

    title = "A log directory is listed twice"


class UnknownPartition(Unprocessable):
    """The request names a partition that the topic does not have."""

    title = "Unknown partition"


class QueueSizesOverflow(Unprocessable):
    """The queue sizes overflow Kafka's table of cumulative frequencies, so its result cannot be predicted."""

    title = "The queue sizes overflow Kafka's 32-bit table"


class DuplicateGroup(Unprocessable):
    """A consumer group is listed more than once."""

    title = "A group is listed twice"


class DuplicateMember(Unprocessable):
    """A member id or group instance id is listed more than once."""

    title = "A member is listed twice"


class DuplicateClient(Unprocessable):
    """A process id of a Streams client is listed more than once."""

    title = "A client is listed twice"


class MalformedKey(Unprocessable):
    """The key of a record does not match its encoding."""

    title = "A key does not match its encoding"


class InvalidField(Unprocessable):
    """Fields are missing, unknown or out of range; `errors` lists each one, the detail states the first."""

    code = "validation"
    title = "A field is invalid"


class UnsupportedKafkaVersion(Unprocessable):
    """The stated Kafka version is not a version, or older or newer than the supported releases."""

    title = "The Kafka version is not supported"


class AssignorUnavailable(Unprocessable):
    """The assignor does not exist in the stated Kafka version; names the releases that have it."""

    title = "The Kafka version does not have the assignor"


class ConflictingFields(Unprocessable):
    """Two fields exclude each other, or a field requires another one that is missing."""

    title = "Fields conflict"


class DuplicateAttribute(Unprocessable):
    """An awareness attribute, or a forced value of one, is listed more than once."""

    title = "An attribute is listed twice"


class AttributeMissing(Unprocessable):
    """Live brokers lack an awareness attribute; names the brokers."""

    title = "Brokers lack an awareness attribute"


class ForcedAttributeNotListed(Unprocessable):
    """Values are forced for an attribute that is not in `attributes`; lists those that are."""

    title = "A forced attribute is not an awareness attribute"


class TooFewValues(Unprocessable):
    """The brokers have too few values of an attribute for the policy; has the number that it requires."""

    title = "Too few failure domains for the policy"


class CopysetsImpossible(Unprocessable):
    """No replica sets have the scatter width, or racks are too unequal for them; states what lifts it."""

    title = "The brokers cannot have such replica sets"


class ImpossibleValue(Unprocessable):
    """A value of a scenario has the wrong type, is out of range or unknown."""

    title = "A value is invalid"


class UnknownAxis(Unprocessable):
    """An axis of a sweep names a field that a scenario does not have; lists the fields."""

    title = "Unknown axis"


class EmptyAxis(Unprocessable):
    """An axis of a sweep has no values."""

    title = "An axis has no values"


class UnknownFigure(Unprocessable):
    """The sweep's kind does not have the requested figure; lists its figures."""

    title = "Unknown figure"


class NotForThisKind(Unprocessable):
    """The operation does not exist for this kind of sweep; names an alternative."""

    title = "Not available for this kind of sweep"


class DatasetNotAllowed(Unprocessable):
    """The dataset is outside the roots that the operator allows; does not reveal whether it exists."""

    title = "The dataset is outside the allowed roots"


class DatasetNotFound(Unprocessable):
    """The path of the dataset does not exist, or contains no file of the format."""

    title = "Dataset not found"


class DatasetUnreadable(Unprocessable):
    """A file of the dataset is damaged, has another format, or cannot be opened; names the file."""

    title = "The dataset cannot be read"


class DatasetEmpty(Unprocessable):
    """The dataset has no records."""

    title = "The dataset has no records"


class ColumnNotFound(Unprocessable):
    """The dataset has no column with this name; lists its columns if they are known."""

    title = "Column not found"


class KeyColumnOfAnotherType(Unprocessable):
    """The type of the key column does not match the key encoding; names both."""

    title = "The key column has the wrong type"


class ValueColumnOfAnotherType(Unprocessable):
    """The value column contains neither values nor their lengths; names its type."""

    title = "The value column has the wrong type"


class IllegalReassignment(Unprocessable):
    """Kafka rejects the reassignment as a whole: an unknown broker or partition, or a replica listed twice."""

    title = "Kafka rejects this reassignment"


class MoveExceedsBatchLimit(Unprocessable):
    """A single replica is larger than a broker may receive in a batch; names the broker and both numbers of bytes."""

    title = "A replica exceeds the batch limit"


class BatchesOutOfDisk(Unprocessable):
    """No order of the moves keeps every disk within its limit; names the broker and the missing bytes."""

    title = "Disks have no capacity for the next move"


class LimitExceeded(Failure):
    """The request exceeds a limit of the service's settings; names the limit and both numbers."""

    title = "The request exceeds a limit of the service"


class TooManySweeps(Failure):
    """The API key has the maximum number of active sweeps."""

    title = "Too many active sweeps"


class QuotaExceeded(Failure):
    """The team would store more than its quota, or has too many unfinished jobs; names the quota and both numbers."""

    title = "The team has reached a quota"


class WebhooksDisabled(Conflict):
    """The operator has not allowed webhooks; names the setting."""

    title = "Webhooks are not enabled"


class TargetNotAllowed(Unprocessable):
    """The URL of a webhook is not one that the service may call; says why, and which setting would allow it."""

    title = "The URL may not be called"


class SnapshotChanged(Failure):
    """The cluster has changed since the snapshot that If-Match names."""

    title = "The cluster has changed since the snapshot"


class PlanChanged(Failure):
    """The status, labels or notes of the plan have changed since the version that If-Match names."""

    title = "The plan has changed"


class ImpossibleTransition(Conflict):
    """The status of a plan cannot follow its present one; lists those that can."""

    title = "The status cannot follow the present one"


class NotExportable(Unprocessable):
    """The plan cannot be written in the requested format."""

    title = "The plan does not fit this format"


class MalformedText(Unprocessable):
    """A text, document or byte string of Kafka cannot be read; names the line or byte offset and what was expected."""

    title = "The text or bytes are malformed"

    def __init__(
        self, detail: str, *, line: int | None = None, expected: str = "", path: FieldPath = (), **context: Json
    ) -> None:
        where = f"line {line}: " if line is not None else ""
        super().__init__(where + detail, path=path, line=line, expected=expected, **context)

    @property
    def line(self) -> int | None:
        """The line, from 1; None if the text has no lines."""
        line = self.context["line"]
        return line if isinstance(line, int) else None

    @property
    def expected(self) -> str:
        """What the reader expected there; empty if it is not one thing."""
        return str(self.context["expected"])

    def relocated(self, *, line: int | None, source: str | None, path: FieldPath) -> "MalformedText":
        """This failure at another line: that of the upload `source`, of which the text that was read is a part."""
        context = {name: value for name, value in self.context.items() if name not in ("line", "expected")}
        reason = self.detail if self.line is None else self.detail.removeprefix(f"line {self.line}: ")
        moved = MalformedText(reason, line=line, expected=self.expected, path=path, **context)
        if source is not None:
            where = source if line is None else f"line {line} of {source}"
            moved.detail = f"{where}: {reason}"
        return moved


class SnapshotNotFound(NotFound):
    """No snapshot has this id."""

    title = "Snapshot not found"


class SnapshotInUse(Conflict):
    """Plans, sweeps or unfinished jobs read the snapshot, so that it cannot be deleted; has the number of each."""

    title = "The snapshot is in use"


class PlanNotFound(NotFound):
    """No plan has this id."""

    title = "Plan not found"


class JobNotFound(NotFound):
    """No job has this id."""

    title = "Job not found"


class JobEnded(Conflict):
    """The job has ended, so that it cannot be cancelled; has its state."""

    title = "The job has ended"


class SweepNotFound(NotFound):
    """No sweep has this id."""

    title = "Sweep not found"


class ScenarioNotFound(NotFound):
    """The sweep has no scenario with this index, or has not scored it yet."""

    title = "Scenario not found"


class WebhookNotFound(NotFound):
    """No webhook has this id."""

    title = "Webhook not found"


class DeliveryNotFound(NotFound):
    """The webhook has no delivery with this id, or it was deleted because of its age."""

    title = "Delivery not found"


class ShareLinkNotFound(NotFound):
    """No share link that is valid has this id."""

    title = "Share link not found"


class ApiKeyNotFound(NotFound):
    """No API key has this name."""

    title = "API key not found"


class ApiKeyInUse(Conflict):
    """A key that was not revoked keeps the service closed."""

    title = "An API key is not revoked"


class ApiKeyNameTaken(Conflict):
    """Another API key has this name."""

    title = "The name of the API key is taken"
