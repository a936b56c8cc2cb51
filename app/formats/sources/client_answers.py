"""JSON of clients, web interfaces and APIs that lists brokers, topics and partitions, whatever its keys are called.

    {"brokers": [{"nodeId": 1, "host": "k"}], "controller": 1}                    KafkaJS, kafka-python (`broker_id`)
    {"topics": [{"name": "orders", "partitions": [{"partitionId": 0, "leader": 1, "replicas": [1, 2], "isr": [1]}]}]}
    {"Brokers": [{"ID": 1, "Host": "k"}], "Topics": {"orders": {"Partitions": [{"ID": 0, "Leader": 1, …}]}}}
                                                                                  confluent-kafka-go
    [{"name": "orders", "partitions": [{"partition_index": 0, "leader_id": 1, "replica_nodes": [1, 2], …}]}]
                                                                                  kafka-python; `topic`, `leader` before
    {"originating_broker": {…}, "brokers": [{"id": 1, "name": "k:9092"}], "topics": [{"topic": "orders", "partitions":
     [{"partition": 0, "leader": 1, "replicas": [{"id": 1}], "isrs": [{"id": 1}]}]}]}       kcat -L -J
    {"nodes": [{"id": 1, "host": "k", "rack": "a"}], …}, {"results": [{"name": "orders", "partitions": [{"id": 0,
     "nodes": [{"id": 1, "leader": true, "inSyncReplicas": true}], "logDir": [{"size": 7}]}]}]}    AKHQ
    {"topics": [{"name": "orders", "bytesInPerSec": 5.0, "partitions": [{"partition": 0, "leader": 1, "replicas":
     [{"broker": 1, "leader": true, "inSync": true}]}]}]}                         kafka-ui (Kafbat, Provectus)
    [{"ns": "kafka", "topic": "orders", "partition_id": 0, "leader_id": 1, "replicas": [{"node_id": 1, "core": 0}]}]
                                                                                  rpk cluster partitions list
    {"cluster_name": "redpanda.x", "controller_id": 1, "brokers": [{"id": 1}], "topics": [{"name": "orders",
     "partitions": [{"partition": 0, "leader": 1, "replicas": [1], "offline_replicas": []}]}]}     rpk cluster info
    {"is_healthy": true, "all_nodes": [0, 1], "nodes_down": [1]}                  rpk cluster health
    {"kind": "KafkaReplicaList", "data": [{"topic_name": "orders", "partition_id": 0, "broker_id": 1,
     "is_leader": true, "is_in_sync": true}]}                                     Confluent's REST API v3
    [{"cluster": "c", "topic_name": "orders", "broker_id": 1, "partition_id": 0, "is_leader": true, "is_in_isr": true}]
                                                                                  confluent kafka replica list -o json
    {"Partitions": [{"Partition": 0, "Leader": 1, "Replicas": [1, 2], "Isr": [1]}]}
                                                                                  aws kafka describe-topic-partitions
    {"Name": "orders", "Partitions": [{"ID": 0, "Leader": "k:9092", "Replicas": [1, 2], "inSyncReplicas": [1]}]}
                                                                                  kafkactl describe topic
    {"brokers": [1, 2]}, [{"partition": 0, "leader": 1, "replicas": [{"broker": 1, "leader": true, "in_sync": true}]}]
                                                                                  Confluent's REST API v2

Names of keys count without case, `_` and `-`. A broker may stand for its id, as in descriptions of Kafka's Java admin
client, and state there that it leads and is in sync. Partitions without a topic are of the one that the command line,
its URL or the answer of `describe-topic` before them names. An answer may be in YAML (`--output yaml`, `--format
yaml`). If no in-sync replicas are listed, the leader counts as the preferred replica, and every replica that is not
offline as in sync.

Source: the sources of KafkaJS 2, kafka-python 2 and 3, confluent-kafka-go 2, node-rdkafka 3, kcat 1, rpk 25 and AKHQ
0.2x; the OpenAPI contract of kafka-ui; the references of Confluent's REST API v3 and of Amazon MSK.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

from app.core.model import INT32_MAX, INT64_MAX, Broker
from app.errors import FieldPath
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.sources.contents import (
    Contents,
    Note,
    Partition,
    Source,
    disagreeing,
    merged,
    noted,
    odd_named,
    other_namespace,
    topic_of,
)
from app.formats.syntax.documents import Document
from app.formats.syntax.lines import first_repeated, shown
from app.formats.syntax.loose_objects import LooseObject
from app.formats.syntax.odd_names import odd_name
from app.formats.syntax.yaml_documents import ROW, each_document

# The names of each field, in the order in which they count.
_BROKER = ("brokerid", "nodeid", "broker", "id")
_TOPIC = ("topicname", "topic", "name")
_PARTITION = ("partitionid", "partitionindex", "partition", "id")
_LEADER = ("leaderid", "leader")
_REPLICAS = ("replicanodes", "replicas", "nodes")
_IN_SYNC = ("isrnodes", "insyncreplicas", "insync", "isrs", "isr")
_LONG_NAMES = ("offlinereplicas", "insyncreplicas", "bytesinpersec", "isfenced", "brokers", "partitions")
"""Names of fields that may be missing, too long to be another name with one other sign."""
_LISTS = ("brokers", "nodes", "topics", "results", "items", "partitions", "data", "clusterinfo")
_OF_ONE_KIND = ("brokers", "nodes", "partitions")
"""Lists in which an item of another kind is a broken one, as without the name of a key."""
_REPLICA = ("topicname", "partitionid", "brokerid", "isleader")
_OF_OTHERS = {"cluster", "endpoints", "jmx_port", "logDirs", "log_dirs"}
"""Keys of snapshots, registrations and log directories, which other readers take."""
_DEEPEST = 8
_COMMAND = re.compile(r"(?:.*[\s/$#>])?(?:aws\s+kafka\s+(?:describe-topic|list-topics)|(?:curl|GET)\s.*/topics\b)")
_TOPIC_OPTION = re.compile(r"(?:--topic-name[ =]['\"]?|/topics/)(?P<topic>[A-Za-z0-9._-]{1,249}+)(?!:)")
_NAME = re.compile(r"^name: ([\w.-]{1,249})[ \r]*\n(?=partitions:)", re.IGNORECASE | re.MULTILINE)
_ADDRESS = re.compile(r"\S{1,253}:\d{1,5}")
_NO_RACKS = noted("client answers no racks")
_ASSUMED = noted("client answers assumed")
_WITHOUT_PARTITIONS = noted("client answers without partitions")
_WITHOUT_LEADER = noted("client answers without leader")
_ADDRESSES = noted("client answers addresses")
_MORE = noted("client answers more")


@dataclass(slots=True)
class Answers:
    """What the documents list, of a partition the first; with the place that a rejection of its topic names. `taken` is
    the number of brokers and partitions, `addresses` are the brokers by address, `repeats` says of a partition in a
    later document whether its replicas are known.
    """

    brokers: dict[int, Broker] = field(default_factory=dict)
    rows: dict[Partition, tuple[PartitionDescription, LooseObject]] = field(default_factory=dict)
    sizes: dict[Partition, int] = field(default_factory=dict)
    rates: dict[tuple[str, int | None], float] = field(default_factory=dict)
    topic: str | None = None
    taken: int = 0
    notes: dict[Note, None] = field(default_factory=dict)
    differing: str = ""
    odd_name: str | None = None
    states_leader: set[bool] = field(default_factory=set)
    addresses: dict[str, int] = field(default_factory=dict)
    repeats: dict[tuple[str, int, int], set[bool]] = field(default_factory=dict)

    def take(self, document: Document, value: object, path: FieldPath = (), topic: str | None = None) -> None:
        """Take what is listed in a value; `topic` is the one whose partitions these are, if it is known."""
        if isinstance(value, list):
            for i, listed in enumerate(value):
                if isinstance(listed, str) and listed.startswith("... "):
                    raise document.reject((*path, i), expected="every item", actual=shown(listed))
                self.take(document, listed, (*path, i), topic)
        if type(value) is int and "brokers" in path[-2:-1]:
            self._add(Broker(document.integer(value, path)))
        if not isinstance(value, dict) or len(path) > _DEEPEST:
            return
        item = LooseObject.of(document, value, path)
        if item.has_all(*_REPLICA):
            self._take_replica(item)
        elif _is_partition(item):
            self.taken += 1
            self._take_partition(item, topic)
        elif _is_broker(item):
            self.taken += 1
            broker = Broker(item.integer(*_BROKER), item.text("rack"), fenced=item.get("isfenced")[1] is True)
            self.addresses[str(item.get("address")[1] or f"{item.get('host')[1]}:{item.get('port')[1]}")] = broker.id
            self._add(broker)
        elif item.has("allnodes"):
            down = item.numbers("nodesdown")
            for one in item.numbers("allnodes"):
                self._add(Broker(one, fenced=one in down))
        else:
            self._take_lists(item, topic)

    def _add(self, broker: Broker) -> None:
        self.brokers[broker.id] = merged(self.brokers.get(broker.id, broker), broker)

    def _take_lists(self, item: LooseObject, topic: str | None) -> None:
        """Take what the object contains: of an answer, or of a topic."""
        named = _named(item, topic)
        for name in _LISTS:
            path, listed = item.get(name)
            if isinstance(listed, dict):
                for key, one in listed.items():
                    at = (*path, key)
                    self.take(item.document, one, at, item.document.topic_name(key, at) if name == "topics" else None)
            elif isinstance(listed, list):
                before = self.taken
                self.take(item.document, listed, path, named or topic)
                if name in _OF_ONE_KIND and 0 < self.taken - before < len(listed):
                    raise item.document.reject(path, expected=f"{name} alone", actual="something else among them")
        if named is not None and not isinstance(item.get("partitions")[1], list):
            self.topic = named
            self.notes[_WITHOUT_PARTITIONS] = None
        if named is not None and isinstance(item.get("bytesinpersec")[1], int | float):
            self.rates[named, None] = item.number("bytesinpersec")

    def _take_partition(self, item: LooseObject, topic: str | None) -> None:
        name = topic or item.topic(*_TOPIC[:2]) or self.topic
        if name is None:
            expected = "the topic of the partitions: the command line with --topic-name or a URL before the answer"
            raise item.document.reject(item.path, expected=expected, actual="none")
        if _is_of_rpk(item) and (namespace := item.text("ns")) != "kafka":
            self.notes |= dict.fromkeys(other_namespace(namespace or ""))
            return
        key = name, item.integer(*_PARTITION)
        row = self._row(item)
        known, first = self.rows.setdefault(key, (row, item))
        if known != row and first.document is item.document:
            actual = f"partition {row.partition} of topic {name!r} again"
            raise item.document.reject(item.path, expected="each partition once", actual=actual)
        if not self.differing and known != row:
            others = "replicas" if {*known.replicas} != {*row.replicas} else "leaders, in-sync replicas or an order"
            self.differing = f"{name}-{row.partition} has other {others}"
        for one in item.each("logdir"):
            path, size = one.get("size")
            if one.get("future")[1] is not True:
                self.sizes[key] = max(item.document.integer(size, path, most=INT64_MAX), self.sizes.get(key, 0))

    def _row(self, item: LooseObject) -> PartitionDescription:
        replicas, isr = _ids(item, *_REPLICAS), _in_sync(item)
        path, value = _leader(item)
        value = self.addresses.get(value, value) if isinstance(value, str) else value
        if isr and isinstance(value, str) and _ADDRESS.fullmatch(value):
            self.notes[_ADDRESSES] = None
            value = next(broker for broker in (*replicas, *isr) if broker in isr)
        self.states_leader.add(value is not None or item.has(*_LEADER))
        leader = -1 if value is None else _broker_id(item.document, value, path, least=-1)
        if isr is None:
            self.notes[_ASSUMED] = None
            replicas = tuple(sorted(replicas, key=lambda broker: broker != leader))
            offline = item.numbers("offlinereplicas")
            isr = tuple([broker for broker in replicas if broker not in offline])
        return PartitionDescription(item.integer(*_PARTITION), leader if leader >= 0 else None, replicas, isr)

    def _take_replica(self, item: LooseObject) -> None:
        """A replica of Confluent's REST API, of a partition whose other replicas follow."""
        broker, key = item.integer(*_BROKER), (item.required_topic(*_TOPIC), item.integer(*_PARTITION))
        stated = item.get("isleader"), item.get("isinisr", "isinsync")
        leads, is_in_sync = [item.document.boolean(value, path) for path, value in stated]
        row, first = self.rows.get(key, (PartitionDescription(key[1], None, (), ()), item))
        if first.document is not item.document:
            repeats = self.repeats.setdefault((*key, item.document.lines_before), set())
            repeats.add(broker in row.replicas)
            if len(repeats) > 1:
                self.differing = self.differing or f"{key[0]}-{key[1]} has further replicas in one of them"
            if broker in row.replicas:
                return
        isr = (*row.isr, broker) if is_in_sync else row.isr
        leader = broker if leads else row.leader
        self.rows[key] = row._replace(leader=leader, replicas=(*row.replicas, broker), isr=isr), first

    def topics(self) -> Iterator[TopicDescription]:
        """The topics with their partitions."""
        by_topic: dict[str, list[tuple[PartitionDescription, LooseObject]]] = {}
        for (topic, _), row in self.rows.items():
            by_topic.setdefault(topic, []).append(row)
        for topic, rows in by_topic.items():
            first = rows[0][1]
            yield topic_of(topic, [row for row, _ in rows], partial(first.document.reject, first.path))


def with_topics(text: str) -> str:
    """The text with the topic of kafkactl's YAML, on the line before its partitions, as a URL names it."""
    return _NAME.sub(r"GET /topics/\1\n", text) if "artitions:\n" in text else text


def read(text: str) -> Contents:
    """The brokers and the topics of any of the answers, one after another.

    Raises
    ------
    MalformedText
        The text is neither JSON nor YAML, a value is not what it has to be, or partitions have no topic.
    """
    answers, has_more = _answers(text, {})
    if _ADDRESSES in answers.notes and answers.addresses:  # brokers may come after the topics that they lead
        answers, has_more = _answers(text, answers.addresses)
    topics = tuple(answers.topics())
    has_racks = any(broker.rack is not None for broker in answers.brokers.values())
    notes = [note for note in answers.notes if note is not _WITHOUT_PARTITIONS or not topics]
    notes += [_NO_RACKS] if answers.brokers and not has_racks else []
    notes += [_MORE] if has_more else []
    notes += [odd_named(answers.odd_name)] if answers.odd_name is not None else []
    notes += [_WITHOUT_LEADER] if len(answers.states_leader) > 1 else []
    notes += [disagreeing(answers.differing)] if answers.differing else []
    return Contents(
        tuple(answers.brokers.values()),
        topics=topics,
        size_bytes=answers.sizes,
        ingress_bytes_per_s=answers.rates,
        notes=tuple(notes),
    )


def _answers(text: str, addresses: dict[str, int]) -> tuple[Answers, bool]:
    """What is listed, given brokers by address; and whether the last answer names a next page."""
    answers, has_more = Answers(addresses=addresses), False
    lines = text.split("\n")
    starts = [0, *[number for number, line in enumerate(lines) if _COMMAND.match(line)], len(lines)]
    for start, end in pairwise(starts):
        is_command = any(map(_COMMAND.match, lines[start:end][:1]))
        if is_command and (named := _TOPIC_OPTION.search(lines[start])) is not None:
            answers.topic = named["topic"]
        first = start + is_command
        chunk = "\n".join(lines[first:end])
        for document in each_document(chunk, "an answer of a client or an API", lines_before=first):
            answers.odd_name = answers.odd_name or odd_name(document.root, _LONG_NAMES)
            answers.take(document, document.root)
            has_more = _has_more(document)
    return answers, has_more


def _has_more(document: Document) -> bool:
    """Whether the answer names a next page."""
    root = document.root if isinstance(document.root, dict) else {}
    metadata = root.get("metadata")
    return bool(root.get("NextToken") or (isinstance(metadata, dict) and metadata.get("next")))


def _is_broker(item: LooseObject) -> bool:
    has_lists = any(isinstance(item.get(name)[1], list) for name in ("partitions", *_REPLICAS))
    # Any message may have an id and a name.
    has_address = item.has("host", "address") or re.search(r":\d", str(item.get("name")[1])) is not None
    return item.has(*_BROKER) and has_address and not has_lists


def _is_partition(item: LooseObject) -> bool:
    return isinstance(item.get(*_REPLICAS)[1], list) and item.has(*_PARTITION) and not item.has("controller")


def _are_ids(listed: object) -> bool:
    """Whether the value is a list that begins with a number."""
    return isinstance(listed, list) and type(next(iter(listed), None)) is int


def _named(item: LooseObject, topic: str | None) -> str | None:
    """The name of a topic, which may be in its summary. Raises `MalformedText` if the topic is known as another one."""
    named = (item.child("summary") if isinstance(item.get("summary")[1], dict) else item).topic(*_TOPIC)
    if named is not None and topic not in (None, named):
        raise item.document.reject(item.path, expected=f"the topic {topic!r}", actual=shown(named))
    return named


def _is_of_rpk(item: LooseObject) -> bool:
    """Whether a partition has a namespace, or replicas on cores."""
    match item.get(*_REPLICAS)[1]:
        case [{"core": _}, *_]:
            return True
    return item.has("ns")


def _nodes(item: LooseObject) -> list[LooseObject]:
    """The replicas of a partition if they are brokers, and not their ids."""
    listed = item.get(*_REPLICAS)[1]
    return list(item.each(*_REPLICAS)) if isinstance(listed, list) and isinstance(next(iter(listed), 0), dict) else []


def _leader(item: LooseObject) -> tuple[FieldPath, object]:
    """The leader that a partition states, or the replica that states that it leads, as it is written; with a path."""
    path, value = item.get(*_LEADER)
    if value is None:
        value = next((node.members for node in _nodes(item) if node.get("leader")[1] is True), None)
    return path, value


def _in_sync(item: LooseObject) -> tuple[int, ...] | None:
    """The in-sync replicas that a partition lists, or that state it themselves; None without either."""
    if item.has(*_IN_SYNC):
        return _ids(item, *_IN_SYNC)
    stating = [node for node in _nodes(item) if node.has(*_IN_SYNC)]
    return tuple([node.integer(*_BROKER) for node in stating if node.get(*_IN_SYNC)[1] is True]) if stating else None


def _broker_id(document: Document, value: object, path: FieldPath, *, least: int = 0) -> int:
    """A broker's id, or that of a broker."""
    if isinstance(value, dict):
        return LooseObject.of(document, value, path).integer(*_BROKER)
    return document.integer(value, path, least=least)


def _ids(item: LooseObject, *names: str) -> tuple[int, ...]:
    """The broker ids of a field: numbers, or brokers."""
    path, values = item.get(*names)
    listed = item.document.array(values, path)
    # Nearly all lists are of valid ids; checking one by one takes four times as long.
    ids: tuple[Any, ...] = tuple([value.get("id") if type(value) is dict else value for value in listed])
    if not all(type(broker) is int and 0 <= broker <= INT32_MAX for broker in ids):
        ids = tuple([_broker_id(item.document, value, (*path, i)) for i, value in enumerate(listed)])
    if (broker := first_repeated(ids)) is not None:
        raise item.document.reject(path, expected="each replica once", actual=f"broker {broker} twice")
    return ids


def _owns(document: object) -> bool:
    """Whether the first broker, topic or partition of a document is one of these."""
    for _ in range(_DEEPEST):
        while isinstance(document, list):
            document = document[0] if document else None
        if not isinstance(document, dict):
            return False
        item = LooseObject.of(Document("", "", document), document, ())
        if document.keys() & _OF_OTHERS and not item.has_all(*_REPLICA):
            return False
        is_named = item.has("allnodes", "topicname", "originatingbroker") or _are_ids(item.get("brokers")[1])
        if _is_broker(item) or is_named or item.has_all(*_REPLICA):
            return not item.has("consumergroupid")
        if _is_partition(item):
            return item.has(*_LEADER) or any(node.has("leader") for node in _nodes(item))
        document = _listed(item)
    return False


def _listed(item: LooseObject) -> object:
    """The first list of an object, or the values of an object in its place."""
    listed = next((listed for name in _LISTS if (listed := item.get(name)[1])), None)
    return [one for one in listed.values() if isinstance(one, dict | list)] if isinstance(listed, dict) else listed


SOURCE = Source(
    "a client's or an API's JSON",
    read,
    re.compile(rf"(?:[Pp]artitions|Topics):\s*$|- ns:\s|cluster_name:\s|{_COMMAND.pattern}"),
    re.compile(rf"{ROW.pattern}|controller_id:\s|(?:brokers|topics|[Cc]onfigs):\s*(?:\[\])?$"),
    _owns,
)
