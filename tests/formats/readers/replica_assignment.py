"""The argument of `kafka-topics --replica-assignment`; Kafka trims blanks around a number."""

import numpy as np

from app.core.model import Int32s
from app.formats.syntax.lines import first_repeated, rejection, shown, whole_number


def read(text: str) -> Int32s:
    """Read the assignment.

    Returns
    -------
    (partitions, replication_factor) int32 broker ids; column 0 is the preferred leader.

    Raises
    ------
    MalformedText
        An item is no broker id, a broker comes twice in a partition, a partition has another number of replicas
        than the first; names the line and the partition.
    """
    rows: list[list[int]] = []
    line = 1
    for partition, item in enumerate(text.split(",")):
        # The line of the item's first character, for an argument that was wrapped.
        at = line + item[: len(item) - len(item.lstrip())].count("\n")
        rows.append(_row(item, partition, at))
        if len(rows[partition]) != len(rows[0]):
            expected = f"{len(rows[0])} replicas for partition {partition}, as partition 0 has"
            raise rejection(at, expected=expected, actual=str(len(rows[partition])), partition=partition)
        line += item.count("\n")
    return np.array(rows, dtype=np.int32)


def _row(item: str, partition: int, line: int) -> list[int]:
    ids: list[int] = []
    for text in item.split(":"):
        broker = whole_number(text.strip())
        if broker is None:
            expected = f"a broker id from 0 to 2147483647 in partition {partition}"
            raise rejection(line, expected=expected, actual=shown(text), partition=partition)
        ids.append(broker)
    if len(set(ids)) < len(ids):
        actual = f"broker {first_repeated(ids)} twice"
        raise rejection(line, expected=f"each broker once in partition {partition}", actual=actual, partition=partition)
    return ids
