"""Topics in ZooKeeper, as `zookeeper-shell` prints them: the path of a node, then its JSON on one line.

    get /brokers/topics/orders
    {"version":3,"topic_id":"5m9Zq0sYQ1yX0mVb3oVnJw","partitions":{"0":[1,2]},"adding_replicas":{},"removing_replicas":{}}
    get /brokers/topics/orders/partitions/0/state
    {"controller_epoch":7,"leader":1,"version":1,"leader_epoch":0,"isr":[1,2]}

Without the state of a partition its preferred replica is taken for the leader, and all of its replicas for in sync.

Source: `TopicZNode` and `TopicPartitionStateZNode` of Apache Kafka 0.8 to 3.9.
"""

import re
from functools import partial

from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.sources.contents import Contents, Source, noted, topic_of
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import numbered, rejection, shown, whole_number

_PATH = re.compile(
    r"(?:.*\s)?/brokers/topics/(?P<topic>[a-zA-Z0-9._-]{1,249})(?:/partitions/(?P<partition>\d{1,10})/state)?\s*$"
)
_NOTE = noted("zookeeper topics")


def read(text: str) -> Contents:
    """The topics of the nodes, with the states that are there.

    Raises
    ------
    MalformedText
        A node has no path before it, or is not of its shape.
    """
    topics: dict[str, Document] = {}
    states: dict[tuple[str, int], tuple[int | None, tuple[int, ...]]] = {}
    path: re.Match[str] | None = None
    for line, content in numbered(text):
        if (found := _PATH.match(content)) is not None:
            path = found
            continue
        if path is None:
            raise rejection(line, expected="a line with /brokers/topics/<name> before the node", actual=shown(content))
        document = Document.parse(content, "a topic's node", lines_before=line - 1)
        if path["partition"] is None:
            topics[path["topic"]] = document
        elif (partition := whole_number(path["partition"])) is not None:
            states[path["topic"], partition] = _state(document)
        path = None
    rows = {name: _rows(name, document, states) for name, document in topics.items()}
    described = [topic_of(name, rows[name], partial(document.reject, ())) for name, document in topics.items()]
    is_complete = all((name, row.partition) in states for name, listed in rows.items() for row in listed)
    return Contents(topics=tuple(described), controller="zookeeper", notes=() if is_complete else (_NOTE,))


def _state(document: Document) -> tuple[int | None, tuple[int, ...]]:
    members = document.mapping(document.root, ())
    leader = document.integer(members.get("leader"), ("leader",), least=-1)
    return None if leader < 0 else leader, document.replicas(members.get("isr"), ("isr",))


def _rows(
    name: str, document: Document, states: dict[tuple[str, int], tuple[int | None, tuple[int, ...]]]
) -> list[PartitionDescription]:
    members = document.mapping(document.root, ())
    lists = {key: document.mapping(members.get(key, {}), (key,)) for key in ("adding_replicas", "removing_replicas")}
    rows: list[PartitionDescription] = []
    for key, value in document.mapping(members.get("partitions"), ("partitions",)).items():
        partition = whole_number(key)
        if partition is None:
            raise document.reject(("partitions", key), expected="a partition's number as the key", actual=shown(key))
        replicas = document.replicas(value, ("partitions", key))
        leader, isr = states.get((name, partition), (replicas[0], replicas))
        adding, removing = (
            document.replicas(listed[key], (of, key)) if listed.get(key) else () for of, listed in lists.items()
        )
        rows.append(PartitionDescription(partition, leader, replicas, isr, adding, removing))
    return rows


def _owns(document: object) -> bool:
    if not isinstance(document, dict):
        return False
    return isinstance(document.get("partitions"), dict) or {"controller_epoch", "leader", "isr"} <= document.keys()


SOURCE = Source("ZooKeeper's topics", read, _PATH, owns=_owns)
