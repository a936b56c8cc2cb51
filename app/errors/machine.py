"""Failures of the machine: data folder, Postgres, Java, Spark, files."""

from app.errors.failure import Failure


class MachineRefuses(Failure):
    """Base of the failures that only the operator of the server can fix."""


class SettingNotValid(MachineRefuses, title="A setting is not valid"):
    """A setting has an invalid value; names the environment variable, the value and the allowed values."""


class DataFolderUnreachable(MachineRefuses, title="The data folder is not accessible"):
    """The data folder cannot be created, or the account of Postgres cannot access it; names the obstacle."""


class DataFolderInUse(MachineRefuses, title="The data folder is in use by another process"):
    """Another running process has the embedded Postgres of this data folder open."""


class DataFolderOwnedByAnother(MachineRefuses, title="The data folder belongs to another account"):
    """The data folder belongs to another account, whose files this account may not change."""


class DataFolderOtherVersion(MachineRefuses, title="The data folder has another Postgres version"):
    """The data folder was written by another major version of Postgres than the installed one."""


class EmbeddedPostgresFailed(MachineRefuses, title="The embedded Postgres is not running"):
    """The embedded Postgres is missing, cannot be started or does not answer; has the end of its log."""


class AccountUnusable(MachineRefuses, title="The unprivileged account cannot be used"):
    """The system has no account `nobody`, or root cannot run a program as that account; carries the system's reason."""


class ExtraNotInstalled(MachineRefuses, title="An optional part of Rackplan is not installed"):
    """The command requires an optional part of Rackplan that is not installed; names it."""


class ClusterUnreachable(MachineRefuses, title="The Kafka cluster cannot be read"):
    """A Kafka cluster does not answer in time, or rejects the client; names the server and the reason."""


class JavaNotFound(MachineRefuses, title="No Java for Spark"):
    """No Java that Spark supports is installed; lists the places that were searched and the versions there."""


class SparkNotInstalled(MachineRefuses, title="Spark is not installed"):
    """The worker was installed without Spark; names the packages that a sweep needs."""


class SparkUnavailable(MachineRefuses, title="Spark is not available"):
    """The Spark master does not answer, provides no executors or was lost; names its address."""


class SparkJobFailed(MachineRefuses, title="The Spark job failed"):
    """A job on Spark failed with an unexpected error; has the message of the executor or the driver."""


class SparkJobCancelled(MachineRefuses, title="The Spark job was cancelled"):
    """A job on Spark was cancelled on request."""


class TooFewDatabaseConnections(MachineRefuses, title="Postgres accepts too few connections"):
    """Postgres accepts fewer connections than the service is set to use; carries both numbers."""


class OutputNotWritable(MachineRefuses, title="The file cannot be written"):
    """The output file cannot be written."""


class BackupUnreadable(MachineRefuses, title="The backup cannot be used"):
    """The file is no backup, is damaged, or of a newer version; or the restored data differ from its manifest."""


class DatabaseNotEmpty(MachineRefuses, title="The database is not empty"):
    """A backup is to be restored into a database that has rows; names the tables."""


class DatabaseNewer(MachineRefuses, title="The database is of a newer version"):
    """The schema of the database is for newer versions of Rackplan alone, or not Rackplan's; names both revisions."""


class AddressInUse(MachineRefuses, title="The address cannot be listened on"):
    """Another process listens at the host and port of the settings, or this account may not listen there."""


class ApiKeyNeeded(MachineRefuses, title="An API key is required on this address"):
    """The address is reachable from other machines, and no API key exists."""
