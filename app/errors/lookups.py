"""Stored objects that do not exist, or already do."""

from app.errors.failure import Conflict, NotFound


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
