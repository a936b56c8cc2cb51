"""Failures of the machine: data folder, Postgres, Java, Spark, files."""

from app.errors.failure import Failure


class MachineRefuses(Failure):
    """Base of the failures that only the operator of the server can fix."""


class SettingNotValid(MachineRefuses):
    """A setting has a value that it may not have; names the environment variable, the value and what is allowed."""

    title = "A setting is not valid"


class DataFolderUnreachable(MachineRefuses):
    """The data folder cannot be created, or the account of Postgres cannot access it; names the obstacle."""

    title = "The data folder is not accessible"


class DataFolderInUse(MachineRefuses):
    """Another running process has the embedded Postgres of this data folder open."""

    title = "The data folder is in use by another process"


class DataFolderOwnedByAnother(MachineRefuses):
    """The data folder belongs to another account, whose files this account may not change."""

    title = "The data folder belongs to another account"


class DataFolderOtherVersion(MachineRefuses):
    """The data folder was written by another major version of Postgres than the installed one."""

    title = "The data folder has another Postgres version"


class EmbeddedPostgresFailed(MachineRefuses):
    """The embedded Postgres is missing, cannot be started or does not answer; has the end of its log."""

    title = "The embedded Postgres is not running"


class AccountUnusable(MachineRefuses):
    """Root has no account `nobody`, or cannot run a program as that account; carries the system's reason."""

    title = "The unprivileged account cannot be used"


class ExtraNotInstalled(MachineRefuses):
    """The command requires an optional part of Rackplan that is not installed; names it."""

    title = "An optional part of Rackplan is not installed"


class ClusterUnreachable(MachineRefuses):
    """A Kafka cluster does not answer in time, or rejects the client; names the server and the reason."""

    title = "The Kafka cluster cannot be read"


class JavaNotFound(MachineRefuses):
    """No Java that Spark supports is installed; lists the places that were searched and the versions there."""

    title = "No Java for Spark"


class SparkNotInstalled(MachineRefuses):
    """The worker was installed without Spark; names the packages that a sweep needs."""

    title = "Spark is not installed"


class SparkUnavailable(MachineRefuses):
    """The Spark master does not answer, provides no executors or was lost; names its address."""

    title = "Spark is not available"


class SparkJobFailed(MachineRefuses):
    """A job on Spark failed with an unexpected error; has the message of the executor or the driver."""

    title = "The Spark job failed"


class SparkJobCancelled(MachineRefuses):
    """A job on Spark was cancelled on request."""

    title = "The Spark job was cancelled"


class TooFewDatabaseConnections(MachineRefuses):
    """Postgres accepts fewer connections than the service is set to use; carries both numbers."""

    title = "Postgres accepts too few connections"


class OutputNotWritable(MachineRefuses):
    """The output file cannot be written."""

    title = "The file cannot be written"


class BackupUnreadable(MachineRefuses):
    """The file is no backup, is damaged, or was written by a newer version; or what it restored is not what it says."""

    title = "The backup cannot be used"


class DatabaseNotEmpty(MachineRefuses):
    """A backup is to be restored into a database that has rows; names the tables."""

    title = "The database is not empty"


class DatabaseNewer(MachineRefuses):
    """The schema of the database is for newer versions of Rackplan alone, or not Rackplan's; names both revisions."""

    title = "The database is of a newer version"


class AddressInUse(MachineRefuses):
    """Another process listens at the host and port of the settings, or this account may not listen there."""

    title = "The address cannot be listened on"


class ApiKeyNeeded(MachineRefuses):
    """The address is reachable from other machines, and no API key exists."""

    title = "An API key is required on this address"
