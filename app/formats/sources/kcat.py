"""What `kcat -L` (once kafkacat) prints about a cluster as text; client_answers.py reads it with `-J`, as JSON.

    Metadata for all topics (from broker 1: kafka-1:9092/1):
     2 brokers:
      broker 2 at kafka-2:9092
      broker 1 at kafka-1:9092 (controller)
     1 topics:
      topic "orders" with 1 partitions:
        partition 0, leader 1, replicas: 1,2, isrs: 1,2

The examples of librdkafka and of confluent-kafka-python print the same:

    Cluster q1Sh metadata (response from broker kafka-1:9092/1):     % Metadata for all topics (from broker 1: …
      kafka-1:9092/1  (controller)
      "orders" with 1 partition(s)
        partition 0 leader: 1, replicas: [1, 2], isrs: [1, 2]

It prints no racks, and only brokers that are up. An error is after the topic or the partition that has one; the leader
is −1 if there is none. A topic without partitions, as one that is unknown, is left out.

Source: the metadata printers of kcat and kafkacat 1.x, `kcat.c`; `rdkafka_example.c` of librdkafka, `list_topics.py`.
"""

import re
from functools import partial
from operator import attrgetter

from app.core.model import Broker
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.sources.contents import Contents, Source, noted, topic_of
from app.formats.syntax.lines import (
    is_topic_name,
    last_line,
    numbered,
    rejection,
    required_number,
    shown,
    whole_numbers,
)

_HEADER = re.compile(r"\s*(?:% )?(?:Metadata for .{1,260} \(from|Cluster \S{1,60} metadata \(response from) broker ")
_COUNT = re.compile(r" *(?P<count>\d{1,10}) (?P<noun>brokers|topics):\s*")
_BROKER = re.compile(
    r" *(?:broker (?P<id>\d{1,10}) at \S{1,300}|[^\s/]{1,260}:\d{1,5}/(?P<last>\d{1,10}))(?: {1,2}\(controller\))?\s*"
)
_TOPIC = re.compile(r' *(?:topic )?"(?P<name>[^"]{1,249})" with (?P<count>\d{1,10}) partition(?:s:|\(s\)).{0,300}')
_IDS = r"[\d,]*|\[(?:\d{1,10}(?:, \d{1,10})*)?\]"
_PARTITION = re.compile(
    rf" *partition (?P<id>\d{{1,10}})(?:, leader| leader:) (?P<leader>-?\d{{1,10}}), replicas: (?P<replicas>{_IDS}), "
    rf"isrs: (?P<isrs>{_IDS})(?:(?:,|(?<=\])) \D.{{0,300}})?\s*"
)
_EXPECTED = 'a line of `kcat -L` (`broker 1 at …`, `topic "…" with 1 partitions:`, `partition 0, leader 1, …`)'
_NOTE = noted("kcat")


def read(text: str) -> Contents:
    """The brokers and topics, from one or several answers of `kcat -L`.

    Raises
    ------
    MalformedText
        kcat prints no such line, a text has fewer brokers, topics or partitions than it says, or an id is not
        valid.
    """
    brokers: dict[int, Broker] = {}
    topics: dict[str, tuple[int, int, list[PartitionDescription]]] = {}
    counts, rows = {"brokers": 0, "topics": 0}, None
    for line, content in numbered(text):
        if _HEADER.match(content):
            rows = None
        elif count := _COUNT.fullmatch(content):
            counts[count["noun"]] = max(counts[count["noun"]], int(count["count"]))
        elif broker := _BROKER.fullmatch(content):
            broker_id = required_number(line, broker["id"] or broker["last"])
            brokers[broker_id] = Broker(broker_id)
        elif topic := _TOPIC.fullmatch(content):
            if not is_topic_name(topic["name"]):
                raise rejection(line, expected="a topic name", actual=shown(topic["name"]))
            topics[topic["name"]] = line, int(topic["count"]), (rows := list[PartitionDescription]())
        elif (partition := _PARTITION.fullmatch(content)) and rows is not None:
            rows.append(_row(line, partition))
        else:
            raise rejection(line, expected=_EXPECTED, actual=shown(content))
    for noun, number in (("brokers", len(brokers)), ("topics", len(topics))):
        if number < counts[noun]:
            raise rejection(last_line(text), expected=f"{counts[noun]} {noun}", actual=f"{number}: the text is cut off")
    described = (_described(name, *counted) for name, counted in topics.items())
    return Contents(tuple(brokers.values()), topics=tuple(filter(attrgetter("partitions"), described)), notes=(_NOTE,))


def _described(name: str, line: int, partitions: int, rows: list[PartitionDescription]) -> TopicDescription:
    """A topic whose header on that line counts its partitions."""
    if len(rows) != partitions:
        actual = f"{len(rows)}: the text is cut off"
        raise rejection(line, expected=f"{partitions} partitions of topic {name!r}", actual=actual)
    return topic_of(name, rows, partial(rejection, line))


def _row(line: int, match: re.Match[str]) -> PartitionDescription:
    replicas, isr = [whole_numbers(match[ids].strip("[]").replace(", ", ",")) for ids in ("replicas", "isrs")]
    if replicas is None or isr is None:
        raise rejection(line, expected="broker ids with commas between them", actual=shown(match[0]))
    leader = None if match["leader"] == "-1" else required_number(line, match["leader"])
    return PartitionDescription(required_number(line, match["id"]), leader, replicas, isr)


SOURCE = Source(
    "kcat -L",
    read,
    _HEADER,
    re.compile(
        r' *(?:\d+ (?:brokers|topics)|broker \d+ at |\S+:\d+/\d|(?:topic )?".*" with |partition \d+(?:,| leader: ))'
    ),
    rows=re.compile(r"(?: *+partition [0-9]{1,10}, leader -?[0-9]{1,10}, replicas: [^\n]*+\n)++"),
)
