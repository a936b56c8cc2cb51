"""Output of `kafka-topics --describe`."""

from collections.abc import Iterable, Sequence

from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription


def row_texts(row: PartitionDescription) -> list[str]:
    """The columns of a row after `Topic`, as the tool prints them."""
    values = {
        "Partition": str(row.partition),
        "Leader": "none" if row.leader is None else str(row.leader),
        "Replicas": _joined(row.replicas),
        "Isr": _joined(row.isr),
        "Adding Replicas": _joined(row.adding),
        "Removing Replicas": _joined(row.removing),
        "Elr": "N/A" if row.elr is None else _joined(row.elr),
        "LastKnownElr": "N/A" if row.last_known_elr is None else _joined(row.last_known_elr),
        **dict(row.others),
    }
    return [f"{name}: {values[name]}" for name in row.columns]


def _joined(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def write(descriptions: Iterable[TopicDescription]) -> str:
    """Print the descriptions as the tool does; the result of `read` comes back verbatim, in one generation's layout."""
    lines: list[str] = []
    for topic in descriptions:
        lines.append(_header_text(topic))
        start = f"\tTopic: {topic.name}\t"
        lines += [start + "\t".join(row_texts(row)) for row in topic.partitions]
    return "".join([line + "\n" for line in lines])


def _header_text(topic: TopicDescription) -> str:
    values = {
        "TopicId": topic.topic_id or "",
        "PartitionCount": str(len(topic.partitions)),
        "ReplicationFactor": str(topic.replication_factor),
        "Configs": topic.configs,
        **dict(topic.others),
    }
    printed = [("Topic", topic.name), *((name, values[name]) for name in topic.columns)]
    return "\t".join([f"{name}{topic.separator}{value}" for name, value in printed])
