"""Obstacles on the machine that runs the service: reported to its operator, never to an API caller."""

from app.errors.failure import Failure


class MachineRefuses(Failure):
    """Category: only the operator of the machine can remove the obstacle."""


class DataFolderUnreachable(MachineRefuses):
    """The data folder cannot be created, or the account that runs Postgres cannot access it; names the obstacle."""

    title = "The data folder cannot be reached"


class DataFolderInUse(MachineRefuses):
    """Another live process runs the embedded Postgres of this data folder."""

    title = "The data folder is in use by another process"


class DataFolderOwnedByAnother(MachineRefuses):
    """The data folder was created by another account, and its files are not accessible to this one."""

    title = "The data folder belongs to another account"


class DataFolderOtherVersion(MachineRefuses):
    """The data folder was written by another major version of Postgres than the one installed."""

    title = "The data folder is of another Postgres version"


class EmbeddedPostgresFailed(MachineRefuses):
    """The embedded Postgres is missing, cannot be started or does not answer; contains the end of its log."""

    title = "The embedded Postgres does not run"


class AccountUnusable(MachineRefuses):
    """Root has no account `nobody`, or cannot run a program as that account; contains the reason of the system."""

    title = "The unprivileged account cannot be used"


class WorkerNotConfinable(MachineRefuses):
    """Root's worker cannot run as an unprivileged account; names the inaccessible path and the alternatives."""

    title = "The worker does not run as root"


class ExtraNotInstalled(MachineRefuses):
    """The command needs an optional part of Rackplan that is not installed; names it."""

    title = "An optional part of Rackplan is not installed"


class ClusterUnreachable(MachineRefuses):
    """A Kafka cluster does not answer in time, or rejects the client; names the server and the reason."""

    title = "The Kafka cluster cannot be read"


class JavaNotFound(MachineRefuses):
    """No Java that Spark can use was found; lists the places that were searched."""

    title = "There is no Java for Spark"


class SparkUnavailable(MachineRefuses):
    """The Spark master does not answer, provides no executors or was lost; names its address."""

    title = "Spark cannot be reached"


class SparkJobFailed(MachineRefuses):
    """A Spark job failed with an error that is not a failure of Rackplan; contains the error of Spark."""

    title = "The job on Spark failed"


class SparkJobCancelled(MachineRefuses):
    """A Spark job was cancelled on request."""

    title = "The job on Spark was cancelled"


class TooFewDatabaseConnections(MachineRefuses):
    """Postgres accepts fewer connections than the settings of the service need; states both numbers."""

    title = "Postgres accepts too few connections"


class OutputNotWritable(MachineRefuses):
    """The output file cannot be written."""

    title = "The file cannot be written"


class ApiKeyNeeded(MachineRefuses):
    """Other machines can reach the address, and no API key exists that would protect it."""

    title = "An open service listens on this machine only"
