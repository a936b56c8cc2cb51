"""What is not there, or already is."""

from app.errors.failure import Failure


class SnapshotNotFound(Failure):
    """No snapshot has this id."""

    code = "snapshot_not_found"
    title = "There is no such snapshot"


class PlanNotFound(Failure):
    """No plan has this id."""

    code = "plan_not_found"
    title = "There is no such plan"


class JobNotFound(Failure):
    """No job has this id."""

    code = "job_not_found"
    title = "There is no such job"


class SweepNotFound(Failure):
    """No sweep has this id."""

    code = "sweep_not_found"
    title = "There is no such sweep"


class ScenarioNotFound(Failure):
    """The sweep has no scenario of this index, or has not scored it yet."""

    code = "scenario_not_found"
    title = "There is no such scenario"


class ApiKeyNotFound(Failure):
    """No API key has this name."""

    code = "api_key_not_found"
    title = "There is no such API key"


class ApiKeyNameTaken(Failure):
    """Another API key has this name."""

    code = "api_key_name_taken"
    title = "The name of an API key is taken"
