"""Requests that are invalid, contradictory or too large, malformed texts, and resources that do not exist."""

from app.errors.failure import Conflict, Failure, FieldPath, Json, NotFound, Unprocessable


class DuplicateBroker(Unprocessable, title="A broker is listed twice"):
    """A broker id is listed more than once."""


class UnrelatedBrokers(Unprocessable, title="The brokers and the topics are not of one cluster"):
    """No broker that holds a replica is among the listed ones, as when the texts are of two clusters."""


class DuplicateTopic(Unprocessable, title="A topic is listed twice"):
    """A topic is listed more than once, or two topics have the same topic id."""


class DuplicatePartition(Unprocessable, title="A partition or one of its replicas is listed twice"):
    """A partition is listed more than once, lists a replica twice, or has two offsets of one group."""


class DuplicateLogDir(Unprocessable, title="A log directory is listed twice"):
    """A log directory of a broker is listed more than once."""


class UnknownPartition(Unprocessable, title="Unknown partition"):
    """The request names a partition that the topic does not have."""


class QueueSizesOverflow(Unprocessable, title="The queue sizes overflow Kafka's 32-bit table"):
    """The queue sizes overflow Kafka's table of cumulative frequencies, so its result cannot be predicted."""


class DuplicateGroup(Unprocessable, title="A group is listed twice"):
    """A consumer group is listed more than once."""


class DuplicateMember(Unprocessable, title="A member is listed twice"):
    """A member id or group instance id is listed more than once."""


class DuplicateClient(Unprocessable, title="A client is listed twice"):
    """A process id of a Streams client is listed more than once."""


class MalformedKey(Unprocessable, title="A key does not match its encoding"):
    """The key of a record does not match its encoding."""


class InvalidField(Unprocessable, title="A field is invalid", code="validation"):
    """Fields are missing, unknown or out of range; `errors` lists each one, the detail states the first."""


class UnsupportedKafkaVersion(Unprocessable, title="The Kafka version is not supported"):
    """The stated Kafka version is not a version, or older or newer than the supported releases."""


class AssignorUnavailable(Unprocessable, title="The Kafka version does not have the assignor"):
    """The assignor does not exist in the stated Kafka version; names the releases that have it."""


class ConflictingFields(Unprocessable, title="Fields conflict"):
    """Two fields exclude each other, or a field requires another one that is missing."""


class DuplicateAttribute(Unprocessable, title="An attribute is listed twice"):
    """An awareness attribute, or a forced value of one, is listed more than once."""


class AttributeMissing(Unprocessable, title="Brokers lack an awareness attribute"):
    """Live brokers lack an awareness attribute; names the brokers."""


class ForcedAttributeNotListed(Unprocessable, title="A forced attribute is not an awareness attribute"):
    """Values are forced for an attribute that is not in `attributes`; lists those that are."""


class TooFewValues(Unprocessable, title="Too few failure domains for the policy"):
    """The brokers have too few values of an attribute for the policy; has the number that it requires."""


class CopysetsImpossible(Unprocessable, title="The brokers cannot have such replica sets"):
    """No replica sets have the scatter width, or racks are too unequal for them; states a remedy."""


class ImpossibleValue(Unprocessable, title="A value is invalid"):
    """A value of a scenario has the wrong type, is out of range or unknown."""


class UnknownAxis(Unprocessable, title="Unknown axis"):
    """An axis of a sweep names a field that a scenario does not have; lists the fields."""


class EmptyAxis(Unprocessable, title="An axis has no values"):
    """An axis of a sweep has no values."""


class UnknownFigure(Unprocessable, title="Unknown figure"):
    """The sweep's kind does not have the requested figure; lists its figures."""


class NotForThisKind(Unprocessable, title="Not available for this kind of sweep"):
    """The operation does not exist for this kind of sweep; names an alternative."""


class DatasetNotAllowed(Unprocessable, title="The dataset is outside the allowed roots"):
    """The dataset is outside the roots that the operator allows; does not reveal whether it exists."""


class DatasetNotFound(Unprocessable, title="Dataset not found"):
    """The path of the dataset does not exist, or contains no file of the format."""


class DatasetUnreadable(Unprocessable, title="The dataset cannot be read"):
    """A file of the dataset is damaged, has another format, or cannot be opened; names the file."""


class DatasetEmpty(Unprocessable, title="The dataset has no records"):
    """The dataset has no records."""


class ColumnNotFound(Unprocessable, title="Column not found"):
    """The dataset has no column with this name; lists its columns if they are known."""


class KeyColumnOfAnotherType(Unprocessable, title="The key column has the wrong type"):
    """The type of the key column does not match the key encoding; names both."""


class ValueColumnOfAnotherType(Unprocessable, title="The value column has the wrong type"):
    """The value column contains neither values nor their lengths; names its type."""


class IllegalReassignment(Unprocessable, title="Kafka rejects this reassignment"):
    """Kafka rejects the reassignment as a whole: an unknown broker or partition, or a replica listed twice."""


class MoveExceedsBatchLimit(Unprocessable, title="A replica exceeds the batch limit"):
    """A single replica is larger than a broker may receive in a batch; names the broker and both numbers of bytes."""


class BatchesOutOfDisk(Unprocessable, title="Disks have no capacity for the next move"):
    """No order of the moves keeps every disk within its limit; names the broker and the missing bytes."""


class LimitExceeded(Failure, title="The request exceeds a limit of the service"):
    """The request exceeds a limit of the service's settings; names the limit and both numbers."""


class TooManySweeps(Failure, title="Too many active sweeps"):
    """The API key has the maximum number of active sweeps."""


class QuotaExceeded(Failure, title="The team has reached a quota"):
    """The team would store more than its quota, or has too many unfinished jobs; names the quota and both numbers."""


class WebhooksDisabled(Conflict, title="Webhooks are not enabled"):
    """The operator has not allowed webhooks; names the setting."""


class TargetNotAllowed(Unprocessable, title="The URL may not be called"):
    """The URL of a webhook is not one that the service may call; says why, and which setting would allow it."""


class SnapshotChanged(Failure, title="The cluster has changed since the snapshot"):
    """The cluster has changed since the snapshot that If-Match names."""


class PlanChanged(Failure, title="The plan has changed"):
    """The status, labels or notes of the plan have changed since the version that If-Match names."""


class ImpossibleTransition(Conflict, title="The status cannot follow the present one"):
    """The status of a plan cannot follow its present one; lists those that can."""


class NotExportable(Unprocessable, title="The plan does not fit this format"):
    """The plan cannot be written in the requested format."""


class MalformedText(Unprocessable, title="The text or bytes are malformed"):
    """A text or byte string of Kafka cannot be read; names the line or byte offset and the expected content."""

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
        """The content that the reader expected there; empty if it is not a single one."""
        return str(self.context["expected"])

    def relocated(self, *, line: int | None, source: str | None, path: FieldPath) -> "MalformedText":
        """This failure at the line of the upload `source`, of which the text is a part."""
        context = {name: value for name, value in self.context.items() if name not in ("line", "expected")}
        reason = self.detail if self.line is None else self.detail.removeprefix(f"line {self.line}: ")
        moved = MalformedText(reason, line=line, expected=self.expected, path=path, **context)
        if source is not None:
            where = source if line is None else f"line {line} of {source}"
            moved.detail = f"{where}: {reason}"
        return moved


class SnapshotNotFound(NotFound, title="Snapshot not found"):
    """No snapshot has this id."""


class SnapshotInUse(Conflict, title="The snapshot is in use"):
    """Plans, sweeps or unfinished jobs read the snapshot, so that it cannot be deleted; has the number of each."""


class PlanNotFound(NotFound, title="Plan not found"):
    """No plan has this id."""


class JobNotFound(NotFound, title="Job not found"):
    """No job has this id."""


class JobEnded(Conflict, title="The job has ended"):
    """The job has ended, so that it cannot be cancelled; has its state."""


class SweepNotFound(NotFound, title="Sweep not found"):
    """No sweep has this id."""


class ScenarioNotFound(NotFound, title="Scenario not found"):
    """The sweep has no scenario with this index, or has not scored it yet."""


class WebhookNotFound(NotFound, title="Webhook not found"):
    """No webhook has this id."""


class DeliveryNotFound(NotFound, title="Delivery not found"):
    """The webhook has no delivery with this id, or it was deleted because of its age."""


class ShareLinkNotFound(NotFound, title="Share link not found"):
    """No share link that is valid has this id."""


class ApiKeyNotFound(NotFound, title="API key not found"):
    """No API key has this name."""


class ApiKeyInUse(Conflict, title="An API key is not revoked"):
    """A key that was not revoked keeps the service closed."""


class ApiKeyNameTaken(Conflict, title="The name of the API key is taken"):
    """Another API key has this name."""
