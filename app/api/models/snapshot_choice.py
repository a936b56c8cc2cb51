"""The snapshot that a request is about: named by its id, or by its cluster, whose newest one it is then."""

from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from app.api.models.fields import Id, Name
from app.api.models.fields import Request as RequestModel
from app.errors import FieldPath
from app.errors.requests import ConflictingFields
from app.services import snapshots

if TYPE_CHECKING:
    from app.store.database import UnitOfWork


class OnSnapshot(RequestModel):
    """Base of requests about the cluster of a snapshot."""

    requires_snapshot: ClassVar[bool] = False
    snapshot_id: Id | None = Field(None, description="The snapshot of the cluster.")
    cluster: Name | None = Field(
        None,
        description="The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster "
        "when the request is received, and the answer has its id.",
    )

    def on_newest(self, uow: "UnitOfWork", at: FieldPath = ()) -> Self:
        """The request with the id of its snapshot. `at` is where the body has the request.

        Raises `ConflictingFields` if it names a snapshot twice, or none although it is required, and
        `SnapshotNotFound` if the cluster has none.
        """
        if self.cluster is None:
            if self.snapshot_id is None and self.requires_snapshot:
                detail = "a snapshot is required: snapshot_id is its id, or cluster the name of its cluster"
                raise ConflictingFields(detail, path=(*at, "snapshot_id"))
            return self
        if self.snapshot_id is not None:
            detail = f"a request has either a snapshot_id or a cluster, and both are given: {self.snapshot_id} and "
            raise ConflictingFields(detail + repr(self.cluster), path=(*at, "cluster"), value=self.cluster)
        snapshot = snapshots.newest(uow, self.cluster, at)
        return self.model_copy(update={"snapshot_id": snapshot.id, "cluster": None})
