"""What HTTP status each failure becomes: the one table. A test walks the failures and misses none."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

from app import errors
from app.errors import Failure

STATUS: Mapping[type[Failure], HTTPStatus] = MappingProxyType(
    {
        errors.MalformedText: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.InvalidPartitions: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.InvalidReplicationFactor: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.BrokersWithoutRack: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.ArithmeticOverflow: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.NoMembers: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.SubscribedTopicMissing: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.OwnedPartitionMissing: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.AssignorNeverEnds: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.AssignorLosesCount: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.PartitionsLeftUnassigned: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.NoClients: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.ClientWithoutThreads: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.UnknownTaskLag: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.TagsBeyondLimits: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.TaskPartitionsUnknown: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.RackCostsOverflow: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.InconsistentTasks: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.TooManyTasks: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.CorruptProtocolBytes: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.NotSerializable: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DuplicateBroker: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DuplicateTopic: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DuplicatePartition: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.UnknownPartition: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.QueueSizesOverflow: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DuplicateGroup: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DuplicateMember: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DuplicateClient: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.MalformedKey: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.ConflictingFields: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DuplicateAttribute: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.AttributeMissing: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.ForcedAttributeNotListed: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.TooFewValues: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.ImpossibleValue: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.UnknownAxis: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.UnknownFigure: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.NotForThisKind: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.EmptyAxis: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DatasetNotAllowed: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DatasetNotFound: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DatasetUnreadable: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.DatasetEmpty: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.ColumnNotFound: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.KeyColumnOfAnotherType: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.ValueColumnOfAnotherType: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.IllegalReassignment: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.MoveExceedsBatchLimit: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.BatchesOutOfDisk: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.NotExportable: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.IdempotencyKeyReused: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.InvalidPageToken: HTTPStatus.UNPROCESSABLE_ENTITY,
        errors.SnapshotNotFound: HTTPStatus.NOT_FOUND,
        errors.PlanNotFound: HTTPStatus.NOT_FOUND,
        errors.JobNotFound: HTTPStatus.NOT_FOUND,
        errors.SweepNotFound: HTTPStatus.NOT_FOUND,
        errors.ScenarioNotFound: HTTPStatus.NOT_FOUND,
        errors.TooManySweeps: HTTPStatus.TOO_MANY_REQUESTS,
        errors.ApiKeyNotFound: HTTPStatus.NOT_FOUND,
        errors.ApiKeyNameTaken: HTTPStatus.CONFLICT,
        errors.IdempotencyKeyInFlight: HTTPStatus.CONFLICT,
        errors.SnapshotChanged: HTTPStatus.PRECONDITION_FAILED,
        errors.LimitExceeded: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        errors.UnsupportedMediaType: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        errors.NotAcceptable: HTTPStatus.NOT_ACCEPTABLE,
        errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
        errors.Forbidden: HTTPStatus.FORBIDDEN,
    }
)
"""What only the process that starts the service meets (`errors.MachineRefuses`) has no status."""

HEADERS: Mapping[type[Failure], Mapping[str, str]] = MappingProxyType(
    {
        errors.Unauthenticated: {"WWW-Authenticate": 'Bearer realm="rackplan", Basic realm="rackplan"'},
        errors.IdempotencyKeyInFlight: {"Retry-After": "1"},
        errors.TooManySweeps: {"Retry-After": "30"},
    }
)
