"""JSON that the web interfaces AKHQ and kafka-ui (Kafbat, Provectus) answer with: brokers and topics.

    AKHQ, /api/{cluster}/node       {"id": "…", "controller": {…}, "nodes": [{"id": 1, "host": "k", "rack": "a"}]}
    AKHQ, /api/{cluster}/topic      {"results": [{"name": "orders", "partitions": [{"id": 0, "nodes": [{"id": 1,
                                    "leader": true, "inSyncReplicas": true}], "logDir": [{"size": 7}]}]}]}
    kafka-ui, /api/clusters/…/brokers  [{"id": 1, "host": "k", "port": 9092, "bytesInPerSec": 5.0}]
    kafka-ui, /api/clusters/…/topics   {"pageCount": 1, "topics": [{"name": "orders", "bytesInPerSec": 5.0,
                                       "partitions": [{"partition": 0, "leader": 1, "replicas": [{"broker": 1,
                                       "leader": true, "inSync": true}]}]}]}

One topic (`/topics/orders`) is the same object alone. kafka-ui has no racks. Pages may be given one after another.

Source: `org.akhq.models` of AKHQ 0.2x; the OpenAPI contract of kafka-ui.
"""

from collections.abc import Iterator, Mapping
from functools import partial

from app.core.model import Broker
from app.errors import FieldPath
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.sources.contents import Contents, Note, Partition, Source, topic_of
from app.formats.syntax.documents import Document, each_document

_INT64_MAX = 2**63 - 1
_LISTS = ("nodes", "results", "topics")
_NO_RACKS = Note("racks_not_in_source", "kafka-ui lists no racks; kafka-broker-api-versions does")


def read(text: str) -> Contents:
    """Brokers and topics, from any of the answers.

    Raises
    ------
    MalformedText
        The text is no JSON, or a value is not what it has to be.
    """
    brokers: dict[int, Broker] = {}
    topics: dict[str, TopicDescription] = {}
    sizes: dict[Partition, int] = {}
    rates: dict[tuple[str, int | None], float] = {}
    for document in each_document(text, "an answer of AKHQ or kafka-ui"):
        for item, where in _items(document):
            if "partitions" in item and "name" in item:
                topic = _topic(document, item, where, sizes)
                topics[topic.name] = topic
                if isinstance(item.get("bytesInPerSec"), int | float):
                    rates[topic.name, None] = document.number(item["bytesInPerSec"], (*where, "bytesInPerSec"))
            else:
                rack = item.get("rack")
                broker_id = document.integer(item.get("id"), (*where, "id"))
                brokers[broker_id] = Broker(
                    broker_id, None if rack is None else document.string(rack, (*where, "rack"))
                )
    has_racks = any(broker.rack is not None for broker in brokers.values())
    described = tuple([topic for topic in topics.values() if topic.partitions])
    notes = (_NO_RACKS,) if brokers and not has_racks else ()
    return Contents(tuple(brokers.values()), topics=described, size_bytes=sizes, ingress_bytes_per_s=rates, notes=notes)


def _items(document: Document) -> Iterator[tuple[dict[str, object], FieldPath]]:
    """The brokers and topics of an answer with their paths: of a list, of a member of the answer, or the answer."""
    root = document.root
    members = root if isinstance(root, dict) else {}
    key = next((key for key in _LISTS if key in members), None)
    if key is None and not isinstance(root, list):
        yield document.mapping(root, ()), ()
        return
    path: FieldPath = () if key is None else (key,)
    for i, value in enumerate(document.array(root if key is None else members[key], path)):
        yield document.mapping(value, (*path, i)), (*path, i)


def _topic(
    document: Document, item: dict[str, object], path: FieldPath, sizes: dict[Partition, int]
) -> TopicDescription:
    name = document.topic_name(item["name"], (*path, "name"))
    rows: list[PartitionDescription] = []
    for i, value in enumerate(document.array(item["partitions"], (*path, "partitions"))):
        where = (*path, "partitions", i)
        members = document.mapping(value, where)
        is_akhq = "nodes" in members
        partition = document.integer(members.get("id" if is_akhq else "partition"), where)
        key, broker, in_sync = ("nodes", "id", "inSyncReplicas") if is_akhq else ("replicas", "broker", "inSync")
        replicas = [
            (document.integer(one.get(broker), (*where, key, j, broker)), one)
            for j, entry in enumerate(document.array(members.get(key), (*where, key)))
            for one in [document.mapping(entry, (*where, key, j))]
        ]
        leaders = [broker_id for broker_id, one in replicas if one.get("leader") is True]
        isr = tuple([broker_id for broker_id, one in replicas if one.get(in_sync) is True])
        ids = tuple([broker_id for broker_id, _ in replicas])
        rows.append(PartitionDescription(partition, leaders[0] if leaders else None, ids, isr))
        for j, entry in enumerate(document.array(members.get("logDir") or [], (*where, "logDir"))):
            log_dir = document.mapping(entry, (*where, "logDir", j))
            size = document.integer(log_dir.get("size"), (*where, "logDir", j, "size"), most=_INT64_MAX)
            if log_dir.get("future") is not True:
                sizes[name, partition] = max(size, sizes.get((name, partition), 0))
    return topic_of(name, rows, partial(document.reject, path))


def _owns(document: object) -> bool:
    if isinstance(document, list):
        keys = _first_of(document).keys()
        is_broker = {"id", "host", "port"} <= keys and not keys & {"endpoints", "jmx_port", "version"}
        return is_broker or _is_topic(_first_of(document))
    # A snapshot of this service has the cluster's name.
    if not isinstance(document, dict) or "cluster" in document:
        return False
    first = _first_of(next((document[key] for key in _LISTS if key in document), None))
    is_broker = "nodes" in document and {"id", "host"} <= first.keys()
    return is_broker or _is_topic(first) or _is_topic(document)


def _is_topic(members: Mapping[str, object]) -> bool:
    partition = _first_of(members.get("partitions"))
    return "name" in members and ("nodes" in partition or "broker" in _first_of(partition.get("replicas")))


def _first_of(listed: object) -> Mapping[str, object]:
    """The first item of a list, if it is an object; else an empty one."""
    first = listed[0] if isinstance(listed, list) and listed else None
    return first if isinstance(first, dict) else {}


SOURCE = Source("AKHQ or kafka-ui", read, owns=_owns)
