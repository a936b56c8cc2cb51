"""What the operator's machine says no to."""

from app.errors.failure import Failure


class MachineRefuses(Failure):
    """Base of the failures that only whoever runs the server can mend."""


class DataFolderUnreachable(MachineRefuses):
    """The data folder cannot be made, or the account that runs Postgres cannot get to it; names the obstacle."""

    code = "data_folder_unreachable"
    title = "The data folder cannot be reached"


class DataFolderInUse(MachineRefuses):
    """Another live process runs the embedded Postgres of this data folder."""

    code = "data_folder_in_use"
    title = "The data folder is in use by another process"


class DataFolderOwnedByAnother(MachineRefuses):
    """The data folder was first used by another account, whose files this one may not touch."""

    code = "data_folder_owned_by_another"
    title = "The data folder belongs to another account"


class DataFolderOtherVersion(MachineRefuses):
    """The data folder was written by another major version of Postgres than the one installed."""

    code = "data_folder_other_version"
    title = "The data folder is of another Postgres version"


class EmbeddedPostgresFailed(MachineRefuses):
    """The embedded Postgres is missing, cannot be started or does not answer; carries its own last words."""

    code = "embedded_postgres_failed"
    title = "The embedded Postgres does not run"


class AccountUnusable(MachineRefuses):
    """Root has no account `nobody`, or cannot run a program as that account; carries the system's reason."""

    code = "account_unusable"
    title = "The unprivileged account cannot be used"


class WorkerNotConfinable(MachineRefuses):
    """Root's worker cannot run as an unprivileged account; names the closed path and the ways out."""

    code = "worker_not_confinable"
    title = "The worker does not run as root"


class ExtraNotInstalled(MachineRefuses):
    """What was asked for needs an optional part of Rackplan that is not installed; names it."""

    code = "extra_not_installed"
    title = "An optional part of Rackplan is not installed"


class ClusterUnreachable(MachineRefuses):
    """A running Kafka cluster does not answer, not in time, or refuses the client; says which server and why."""

    code = "cluster_unreachable"
    title = "The Kafka cluster cannot be read"


class JavaNotFound(MachineRefuses):
    """No Java that Spark runs on; says where it was looked for and what was there."""

    code = "java_not_found"
    title = "There is no Java for Spark"


class SparkUnavailable(MachineRefuses):
    """The Spark master does not answer, gives no executors or was lost; names its address."""

    code = "spark_unavailable"
    title = "Spark cannot be reached"


class SparkJobFailed(MachineRefuses):
    """A job on Spark ended with an error that is none of ours; carries what the executor or the driver said."""

    code = "spark_job_failed"
    title = "The job on Spark failed"


class SparkJobCancelled(MachineRefuses):
    """A job on Spark was cancelled, by whoever asked for that."""

    code = "spark_job_cancelled"
    title = "The job on Spark was cancelled"


class TooFewDatabaseConnections(MachineRefuses):
    """Postgres accepts fewer connections than the service is set to use; carries both numbers."""

    code = "too_few_database_connections"
    title = "Postgres accepts too few connections"


class OutputNotWritable(MachineRefuses):
    """The file that the answer was to be written to cannot be written."""

    code = "output_not_writable"
    title = "The file cannot be written"


class ApiKeyNeeded(MachineRefuses):
    """Other machines can reach the address, and there is no API key that would keep them out."""

    code = "api_key_needed"
    title = "An open service listens on this machine only"
