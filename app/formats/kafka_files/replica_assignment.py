"""The argument of `kafka-topics --replica-assignment`: a list of replicas a partition, from partition 0 on.

    101:105:108,104:109:102

Partitions are separated by commas, the broker ids of one by colons, the preferred leader first. Every partition has
the same number of replicas.

Source: `TopicCommand.parseReplicaAssignment` of Apache Kafka.
"""

from app.core.model import NO_REPLICA, Int32s
from app.formats.syntax.row_text import format_rows


def write(replicas: Int32s) -> str:
    """The argument that makes the assignment.

    Parameters
    ----------
    replicas : (partitions, replication_factor) int32 broker ids, from partition 0 on.

    Raises
    ------
    ValueError
        There is no partition or no replica, or the rows are of unequal length: the argument cannot say that.
    """
    if not replicas.size or bool((replicas == NO_REPLICA).any()):
        raise ValueError("a replica assignment has partitions, all with the same number of replicas, at least one")
    return format_rows(replicas, lambda width: ":".join(["%d"] * width), separator=",")
