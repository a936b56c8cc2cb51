"""Resources that do not exist, and names that are taken."""

from app.errors.failure import Conflict, NotFound


class SnapshotNotFound(NotFound):
    """No snapshot has this id."""

    title = "There is no such snapshot"


class PlanNotFound(NotFound):
    """No plan has this id."""

    title = "There is no such plan"


class JobNotFound(NotFound):
    """No job has this id."""

    title = "There is no such job"


class SweepNotFound(NotFound):
    """No sweep has this id."""

    title = "There is no such sweep"


class ScenarioNotFound(NotFound):
    """The sweep has no scenario with this index, or has not scored it yet."""

    title = "There is no such scenario"


class ApiKeyNotFound(NotFound):
    """No API key has this name."""

    title = "There is no such API key"


class ApiKeyNameTaken(Conflict):
    """Another API key has this name."""

    title = "The name of an API key is taken"
