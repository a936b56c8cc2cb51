"""What `kcat -L` (once kafkacat) prints about a cluster, as text or, with `-J`, as JSON.

    Metadata for all topics (from broker 1: kafka-1:9092/1):
     2 brokers:
      broker 2 at kafka-2:9092
      broker 1 at kafka-1:9092 (controller)
     1 topics:
      topic "orders" with 1 partitions:
        partition 0, leader 1, replicas: 1,2, isrs: 1,2

    {"originating_broker":{"id":1,"name":"kafka-1:9092/1"},"query":{"topic":"*"},"controllerid":1,"brokers":[{"id":1,
    "name":"kafka-1:9092"}],"topics":[{"topic":"orders","partitions":[{"partition":0,"leader":1,"replicas":[{"id":1}],
    "isrs":[{"id":1}]}]}]}

It prints no racks, and only brokers that are up. An error is after the topic or the partition that has one; the leader
is −1 if there is none. A topic without partitions, as one that is unknown, is left out.

Source: the metadata printers of kcat and kafkacat 1.x, `kcat.c` and `json.c`.
"""

import re
from functools import partial

from app.core.model import Broker
from app.errors import FieldPath
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.sources.contents import Contents, Note, Source, topic_of
from app.formats.syntax.documents import Document, each_document
from app.formats.syntax.lines import is_topic_name, last_line, numbered, rejection, shown, whole_number, whole_numbers

_HEADER = re.compile(r"\s*Metadata for .{1,260} \(from broker ")
_COUNT = re.compile(r" *(?P<count>\d{1,10}) (?P<noun>brokers|topics):\s*")
_BROKER = re.compile(r" *broker (?P<id>\d{1,10}) at \S{1,300}(?: \(controller\))?\s*")
_TOPIC = re.compile(r' *topic "(?P<name>[^"]{1,249})" with (?P<count>\d{1,10}) partitions:.{0,300}')
_PARTITION = re.compile(
    r" *partition (?P<id>\d{1,10}), leader (?P<leader>-?\d{1,10}), replicas: (?P<replicas>[\d,]*), "
    r"isrs: (?P<isrs>[\d,]*)(?:, \D.{0,300})?\s*"
)
_EXPECTED = 'a line of `kcat -L` (`broker 1 at …`, `topic "…" with 1 partitions:`, `partition 0, leader 1, …`)'
_NOTE = Note("racks_not_in_source", "kcat prints no racks; kafka-broker-api-versions does")


def read_json(text: str) -> Contents:
    """The brokers and topics, from one or several documents of `kcat -L -J`.

    Raises
    ------
    MalformedText
        The text is no JSON, or an id is not valid.
    """
    brokers: dict[int, Broker] = {}
    topics: dict[str, TopicDescription] = {}
    for document in each_document(text, "the metadata of kcat"):
        root = document.mapping(document.root, ())
        for i, value in enumerate(document.array(root.get("brokers"), ("brokers",))):
            broker_id = document.integer(document.mapping(value, ("brokers", i)).get("id"), ("brokers", i, "id"))
            brokers[broker_id] = Broker(broker_id)
        for i, value in enumerate(document.array(root.get("topics", []), ("topics",))):
            topic = _topic(document, value, ("topics", i))
            topics[topic.name] = topic
    return _contents(brokers, topics)


def _contents(brokers: dict[int, Broker], topics: dict[str, TopicDescription]) -> Contents:
    described = tuple([topic for topic in topics.values() if topic.partitions])
    return Contents(tuple(brokers.values()), topics=described, notes=(_NOTE,))


def read(text: str) -> Contents:
    """The brokers and topics, from one or several answers of `kcat -L`.

    Raises
    ------
    MalformedText
        A line is none that kcat prints, a text has fewer brokers, topics or partitions than it says, or an id is not
        valid.
    """
    brokers: dict[int, Broker] = {}
    topics: dict[str, tuple[int, int, list[PartitionDescription]]] = {}
    counts = {"brokers": 0, "topics": 0}
    rows: list[PartitionDescription] | None = None
    for line, content in numbered(text):
        if _HEADER.match(content):
            rows = None
        elif count := _COUNT.fullmatch(content):
            counts[count["noun"]] = max(counts[count["noun"]], int(count["count"]))
        elif broker := _BROKER.fullmatch(content):
            broker_id = _id(line, broker["id"])
            brokers[broker_id] = Broker(broker_id)
        elif topic := _TOPIC.fullmatch(content):
            if not is_topic_name(topic["name"]):
                raise rejection(line, expected="a topic name", actual=shown(topic["name"]))
            rows = []
            topics[topic["name"]] = line, int(topic["count"]), rows
        elif (partition := _PARTITION.fullmatch(content)) and rows is not None:
            rows.append(_row(line, partition))
        else:
            raise rejection(line, expected=_EXPECTED, actual=shown(content))
    for noun, number in (("brokers", len(brokers)), ("topics", len(topics))):
        if number < counts[noun]:
            raise rejection(last_line(text), expected=f"{counts[noun]} {noun}", actual=f"{number}: the text is cut off")
    return _contents(brokers, {name: _described(name, *counted) for name, counted in topics.items()})


def _described(name: str, line: int, partitions: int, rows: list[PartitionDescription]) -> TopicDescription:
    """A topic whose header on that line counts its partitions."""
    if len(rows) != partitions:
        actual = f"{len(rows)}: the text is cut off"
        raise rejection(line, expected=f"{partitions} partitions of topic {name!r}", actual=actual)
    return topic_of(name, rows, partial(rejection, line))


def _id(line: int, text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise rejection(line, expected="an id from 0 to 2147483647", actual=shown(text))
    return number


def _row(line: int, match: re.Match[str]) -> PartitionDescription:
    replicas, isr = whole_numbers(match["replicas"]), whole_numbers(match["isrs"])
    if replicas is None or isr is None:
        raise rejection(line, expected="broker ids with commas between them", actual=shown(match[0]))
    leader = None if match["leader"] == "-1" else _id(line, match["leader"])
    return PartitionDescription(_id(line, match["id"]), leader, replicas, isr)


def _topic(document: Document, value: object, path: FieldPath) -> TopicDescription:
    members = document.mapping(value, path)
    rows: list[PartitionDescription] = []
    for i, item in enumerate(document.array(members.get("partitions"), (*path, "partitions"))):
        where = (*path, "partitions", i)
        partition = document.mapping(item, where)
        leader = document.integer(partition.get("leader"), (*where, "leader"), least=-1)
        rows.append(
            PartitionDescription(
                partition=document.integer(partition.get("partition"), (*where, "partition")),
                leader=None if leader < 0 else leader,
                replicas=_ids(document, partition.get("replicas"), (*where, "replicas")),
                isr=_ids(document, partition.get("isrs"), (*where, "isrs")),
            )
        )
    name = document.topic_name(members.get("topic"), (*path, "topic"))
    return topic_of(name, rows, partial(document.reject, path))


def _ids(document: Document, value: object, path: FieldPath) -> tuple[int, ...]:
    listed = [document.mapping(item, (*path, i)) for i, item in enumerate(document.array(value, path))]
    return tuple([document.integer(item.get("id"), (*path, i, "id")) for i, item in enumerate(listed)])


SOURCE = Source(
    "kcat -L", read, _HEADER, re.compile(r' *(?:\d+ (?:brokers|topics)|broker \d+ at |topic ".* with |partition \d+, )')
)
JSON_SOURCE = Source(
    "kcat -L -J", read_json, owns=lambda document: isinstance(document, dict) and "originating_broker" in document
)
