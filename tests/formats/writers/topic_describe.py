"""Output of `kafka-topics --describe`."""

from collections.abc import Iterable, Sequence

from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription


def row_texts(row: PartitionDescription, *, with_elr: bool = False, others: Sequence[str] = ()) -> list[str]:
    """The columns of a row after `Topic`, as the tool prints them; `others` are columns that are not read."""
    moving = [f"Adding Replicas: {_joined(row.adding)}", f"Removing Replicas: {_joined(row.removing)}"]
    eligible = {"Elr": row.elr, "LastKnownElr": row.last_known_elr}
    return [
        f"Partition: {row.partition}",
        f"Leader: {'none' if row.leader is None else row.leader}",
        f"Replicas: {_joined(row.replicas)}",
        f"Isr: {_joined(row.isr)}",
        *others,
        *(moving if row.adding or row.removing else ()),
        *(f"{name}: {'N/A' if ids is None else _joined(ids)}" for name, ids in eligible.items() if with_elr),
    ]


def _joined(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def write(
    descriptions: Iterable[TopicDescription],
    *,
    with_elr: bool = False,
    separator: str = ": ",
    others: Sequence[str] = (),
) -> str:
    """Print the descriptions as the tool does, in the layout of a generation, from which `read` makes them again.

    Parameters
    ----------
    with_elr : since 3.8. separator : `:` in headers up to 2.1.
    others : columns of other names, in headers and rows.
    """
    lines: list[str] = []
    for topic in descriptions:
        identity = [("TopicId", topic.topic_id)] if topic.topic_id else []
        counts = [("PartitionCount", len(topic.partitions)), ("ReplicationFactor", topic.replication_factor)]
        header = [("Topic", topic.name), *identity, *counts, ("Configs", topic.configs)]
        lines.append("\t".join([*(f"{name}{separator}{value}" for name, value in header), *others]))
        start = f"\tTopic: {topic.name}\t"
        rows = [row_texts(row, with_elr=with_elr, others=others) for row in topic.partitions]
        lines += [start + "\t".join(row) for row in rows]
    return "".join([line + "\n" for line in lines])
