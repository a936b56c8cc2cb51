"""Stored objects that do not exist, or already do."""

from app.errors.failure import Failure


class SnapshotNotFound(Failure):
    """No snapshot has this id."""

    code = "snapshot_not_found"
    title = "Snapshot not found"


class PlanNotFound(Failure):
    """No plan has this id."""

    code = "plan_not_found"
    title = "Plan not found"


class JobNotFound(Failure):
    """No job has this id."""

    code = "job_not_found"
    title = "Job not found"


class SweepNotFound(Failure):
    """No sweep has this id."""

    code = "sweep_not_found"
    title = "Sweep not found"


class ScenarioNotFound(Failure):
    """The sweep has no scenario with this index, or has not scored it yet."""

    code = "scenario_not_found"
    title = "Scenario not found"


class ApiKeyNotFound(Failure):
    """No API key has this name."""

    code = "api_key_not_found"
    title = "API key not found"


class ApiKeyNameTaken(Failure):
    """Another API key has this name."""

    code = "api_key_name_taken"
    title = "The name of the API key is taken"
