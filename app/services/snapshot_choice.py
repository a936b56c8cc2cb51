"""The snapshot that a request is about: named by its id, or by its cluster, whose newest one it is then."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self
from uuid import UUID

from app.errors import FieldPath
from app.errors.requests import ConflictingFields
from app.services import snapshots
from app.services.bodies import Request as RequestModel
from app.services.bodies import RequestRecord
from app.services.fields import Id, Name

if TYPE_CHECKING:
    from app.store.database import UnitOfWork


class OnSnapshot(RequestModel):
    """Base of request models about the cluster of a snapshot."""

    requires_snapshot: ClassVar[bool] = False
    snapshot_id: Id | None = None
    """The snapshot of the cluster."""
    cluster: Name | None = None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""

    def on_newest(self, uow: "UnitOfWork", at: FieldPath = ()) -> Self:
        """The request with the id of its snapshot. Raises as `_chosen` does."""
        snapshot_id = _chosen(self, uow, at)
        return self.model_copy(update={"snapshot_id": snapshot_id, "cluster": None}) if self.cluster else self


@dataclass(frozen=True, kw_only=True)
class SnapshotFields(RequestRecord):
    """Base of requests about the cluster of a snapshot."""

    requires_snapshot: ClassVar[bool] = False
    snapshot_id: Id | None = None
    """The snapshot of the cluster."""
    cluster: Name | None = None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""

    def on_newest(self, uow: "UnitOfWork", at: FieldPath = ()) -> Self:
        """The request with the id of its snapshot. Raises as `_chosen` does."""
        return replace(self, snapshot_id=_chosen(self, uow, at), cluster=None)

    def service(self) -> Any:
        """The request as the service takes it: the body itself."""
        return self


def _chosen(request: OnSnapshot | SnapshotFields, uow: "UnitOfWork", at: FieldPath) -> UUID | None:
    """The id of a request's snapshot. `at` is where the body has the request.

    Raises `ConflictingFields` if it names a snapshot twice, or none although it is required, and `SnapshotNotFound` if
    the cluster has none.
    """
    if request.cluster is None:
        if request.snapshot_id is None and request.requires_snapshot:
            detail = "a snapshot is required: snapshot_id is its id, or cluster the name of its cluster"
            raise ConflictingFields(detail, path=(*at, "snapshot_id"))
        return request.snapshot_id
    if request.snapshot_id is not None:
        detail = f"a request has either a snapshot_id or a cluster, and both are given: {request.snapshot_id} and "
        raise ConflictingFields(detail + repr(request.cluster), path=(*at, "cluster"), value=request.cluster)
    return snapshots.newest(uow, request.cluster, at).id
