"""Answers of Cruise Control: JSON of `kafka_cluster_state`, `load` and `partition_load`; `load` as text; capacities.

    {"KafkaBrokerState": {"ReplicaCountByBrokerId": {"1": 7}, …}, "KafkaPartitionState": {"other": [{"topic": "orders",
    "partition": 0, "leader": 1, "replicas": [1, 2], "in-sync": [1, 2]}], "urp": [], …}}          with verbose=true

    {"hosts": […], "brokers": [{"Broker": 1, "Rack": "a", "BrokerState": "ALIVE", "DiskCapacityMB": 100000.0,
    "NetworkInCapacity": 10000.0, "NetworkOutCapacity": 10000.0, "LeaderNwInRate": 17.5, "CpuPct": 1.1, …}]}

    {"records": [{"topic": "orders", "partition": 0, "leader": 1, "followers": [2], "disk": 12.5,
    "networkInbound": 3.2, "networkOutbound": 1.0, "cpu": 0.1, "msg_in": 4.0}]}

    HOST  BROKER  RACK  DISK_CAP(MB)  …           `load` without json=true: a header, then cells with commas
    localhost,  0,  a,  10000.000,  …

    {"brokerCapacities": [{"brokerId": "-1", "capacity": {"DISK": "1500000", "CPU": {"num.cores": "8"}, "NW_IN":
    "625000", "NW_OUT": "625000"}}]}          its file capacity.json: −1 is every other broker, DISK may be by directory

Units are MiB, KiB/s and percent. Where a broker has no rack, Cruise Control puts its host. The rates of `load` are of
brokers and no part of a snapshot; those of `partition_load` are of partitions. `partition_load` has the leader before
the followers, which need not be the preferred replica.

Source: `KafkaClusterState`, `BrokerStats` and `PartitionLoadState` of Cruise Control 2.x.
"""

import json
import re
from collections.abc import Iterator
from functools import partial

import orjson

from app.core.model import Broker, BrokerCapacity
from app.errors import FieldPath
from app.formats.clusters.topic_describe import TopicDescription
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.sources.contents import Contents, Note, Partition, Source, contents_of_all, topic_of
from app.formats.syntax.documents import Document, each_document
from app.formats.syntax.lines import numbered

_BROKER_STATE, _PARTITION_STATE = "KafkaBrokerState", "KafkaPartitionState"
_CAPACITIES = "brokerCapacities"
_HEADER = re.compile(r"\s*HOST\s.*\bNW_OUT\(KB/s\)")
_ROW = re.compile(r"\s*[^\s,]+,\s*\d{1,10},(?:\s*[^\s,]+,){2,}")
_COLUMNS = {"HOST": "Host", "BROKER": "Broker", "RACK": "Rack", "DISK_CAP(MB)": "DiskCapacityMB"} | {
    f"NW_{way.upper()}_CAP(KB/s)": f"Network{way}Capacity" for way in ("In", "Out")
}
"""The columns of the load as a table, by the names of its JSON."""
_NUMBER = re.compile(r"(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?", re.ASCII)
_KIB, _MIB = 2**10, 2**20
_LARGEST_BYTES = 2**62
_DEAD = ("DEAD",)
_WITHOUT_PARTITIONS = Note(
    "topics_without_partitions", "kafka_cluster_state lists partitions in health only with verbose=true"
)
_HOSTS_AS_RACKS = Note(
    "racks_not_in_source", "Cruise Control's load has hosts for racks, as of brokers that have none; they are left out"
)
_LEADER_FIRST = Note(
    "replicas_in_assumed_order", "partition_load has leaders and followers: the leader counts as the preferred replica"
)


def read(text: str) -> Contents:
    """The brokers with racks and capacities, placements, sizes and rates, from any of the answers.

    Raises
    ------
    MalformedText
        The text is no JSON, or a value is not what it has to be.
    """
    states: list[Contents] = []
    loads: list[Contents] = []
    table, rest = _table(text)
    if table:
        document = Document.parse(orjson.dumps({"brokers": table}).decode(), "the load of Cruise Control")
        states.append(_brokers(document, document.mapping(document.root, ())))
    for document in each_document(rest, "an answer of Cruise Control"):
        root = document.mapping(document.root, ())
        if _CAPACITIES in root:
            states.append(_capacities(document, root))
        elif "records" in root:
            loads.append(_partition_loads(document, root))
        else:
            states.append(_brokers(document, root) if "brokers" in root else _state(document, root))
    return contents_of_all([*states, *loads])


def _table(text: str) -> tuple[list[dict[str, object]], str]:
    """The rows of the load as a table, by the names that they have in JSON, and the text without it."""
    rows: list[dict[str, object]] = []
    rest = text.split("\n")
    columns: list[str] = []
    for line, content in numbered(text):
        if _HEADER.match(content):
            columns = content.split()
        elif columns and _ROW.match(content):
            cells = dict(zip(columns, map(str.strip, content.split(",")), strict=False))
            named = {name: cells[column] for column, name in _COLUMNS.items() if column in cells}
            rows.append({name: json.loads(cell) if _NUMBER.fullmatch(cell) else cell for name, cell in named.items()})
        else:
            continue
        rest[line - 1] = ""
    return [row for row in rows if "Broker" in row], "\n".join(rest)


def _capacities(document: Document, root: dict[str, object]) -> Contents:
    """The capacities of the file capacity.json."""
    found: dict[int | None, BrokerCapacity] = {}
    for i, value in enumerate(document.array(root[_CAPACITIES], (_CAPACITIES,))):
        path: FieldPath = (_CAPACITIES, i, "capacity")
        members = document.mapping(value, path[:2])
        stated = document.mapping(members.get("capacity"), path)
        disks, cpu = stated.get("DISK"), stated.get("CPU")
        sizes = disks.values() if isinstance(disks, dict) else [disks]
        amounts: dict[str, object] = {
            "DISK": sum(_amount(document, size, (*path, "DISK")) for size in sizes),
            **{key: _amount(document, stated.get(key), (*path, key)) for key in ("NW_IN", "NW_OUT")},
        }
        broker_id = str(members.get("brokerId"))
        found[None if broker_id == "-1" else _id_of(document, broker_id, (*path[:2], "brokerId"))] = BrokerCapacity(
            _bytes(document, amounts, "DISK", path, _MIB),
            _bytes(document, amounts, "NW_IN", path, _KIB),
            _bytes(document, amounts, "NW_OUT", path, _KIB),
            _amount(document, cpu.get("num.cores"), (*path, "CPU")) or None if isinstance(cpu, dict) else None,
        )
    return Contents(capacities=found)


def _amount(document: Document, value: object, path: FieldPath) -> float:
    """A number that may be written as a text; 0 if it is missing."""
    return document.number(
        json.loads(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value or 0, path
    )


def _state(document: Document, root: dict[str, object]) -> Contents:
    path = (_BROKER_STATE, "ReplicaCountByBrokerId")
    counts = document.mapping(document.mapping(root.get(_BROKER_STATE, {}), path[:1]).get(path[1], {}), path)
    brokers = tuple([Broker(_id_of(document, key, (*path, key))) for key in counts])
    rows: dict[str, dict[int, PartitionDescription]] = {}
    for name, value in document.mapping(root.get(_PARTITION_STATE, {}), (_PARTITION_STATE,)).items():
        for i, item in enumerate(document.array(value, (_PARTITION_STATE, name))):
            topic, row = _partition(document, item, (_PARTITION_STATE, name, i))
            # A partition is in each list of what is wrong with it.
            rows.setdefault(topic, {})[row.partition] = row
    topics = _topics(document, {topic: list(by_id.values()) for topic, by_id in rows.items()})
    is_whole = "other" in document.mapping(root.get(_PARTITION_STATE, {}), (_PARTITION_STATE,))
    return Contents(brokers, topics=topics, notes=() if is_whole else (_WITHOUT_PARTITIONS,))


def _partition(document: Document, value: object, path: FieldPath) -> tuple[str, PartitionDescription]:
    members = document.mapping(value, path)
    leader = document.integer(members.get("leader"), (*path, "leader"), least=-1)
    row = PartitionDescription(
        partition=document.integer(members.get("partition"), (*path, "partition")),
        leader=None if leader < 0 else leader,
        replicas=document.replicas(members.get("replicas"), (*path, "replicas")),
        isr=_ids(document, members.get("in-sync"), (*path, "in-sync")),
    )
    return document.topic_name(members.get("topic"), (*path, "topic")), row


def _brokers(document: Document, root: dict[str, object]) -> Contents:
    listed: list[tuple[Broker, object]] = []
    for i, value in enumerate(document.array(root["brokers"], ("brokers",))):
        path = ("brokers", i)
        members = document.mapping(value, path)
        capacity = BrokerCapacity(
            disk_bytes=_bytes(document, members, "DiskCapacityMB", path, _MIB),
            nic_in_bytes_per_s=_bytes(document, members, "NetworkInCapacity", path, _KIB),
            nic_out_bytes_per_s=_bytes(document, members, "NetworkOutCapacity", path, _KIB),
        )
        rack = members.get("Rack")
        broker = Broker(
            document.integer(members.get("Broker"), (*path, "Broker")),
            rack=None if rack is None else document.string(rack, (*path, "Rack")) or None,
            fenced=members.get("BrokerState") in _DEAD,
            capacity=None if capacity == BrokerCapacity() else capacity,
        )
        listed.append((broker, members.get("Host")))
    # Cruise Control takes the host for a rack that the broker does not have.
    if listed and all(broker.rack is not None and broker.rack == host for broker, host in listed):
        bare = [Broker(broker.id, None, broker.fenced, broker.capacity) for broker, _ in listed]
        return Contents(tuple(bare), notes=(_HOSTS_AS_RACKS,))
    return Contents(tuple([broker for broker, _ in listed]))


def _bytes(document: Document, members: dict[str, object], key: str, path: FieldPath, unit: int) -> int | None:
    value = members.get(key)
    # The capacity of a dead broker or disk is −1 or 0.
    if not isinstance(value, int | float) or value <= 0:
        return None
    return round(min(document.number(value, (*path, key)) * unit, _LARGEST_BYTES))


def _partition_loads(document: Document, root: dict[str, object]) -> Contents:
    rows: dict[str, list[PartitionDescription]] = {}
    sizes: dict[Partition, int] = {}
    rates: dict[tuple[str, int | None], float] = {}
    for path, members in _records(document, root):
        topic = document.topic_name(members.get("topic"), (*path, "topic"))
        partition = document.integer(members.get("partition"), (*path, "partition"))
        leader = document.integer(members.get("leader"), (*path, "leader"), least=-1)
        replicas = tuple([leader] if leader >= 0 else []) + _ids(
            document, members.get("followers", []), (*path, "followers")
        )
        if replicas:
            row = PartitionDescription(partition, leader if leader >= 0 else None, replicas, replicas)
            rows.setdefault(topic, []).append(row)
        if "disk" in members:
            disk = document.number(members["disk"], (*path, "disk")) * _MIB
            sizes[topic, partition] = round(min(disk, _LARGEST_BYTES))
        if "networkInbound" in members:
            rates[topic, partition] = document.number(members["networkInbound"], (*path, "networkInbound")) * _KIB
    topics = _topics(document, rows)
    return Contents(
        topics=topics, size_bytes=sizes, ingress_bytes_per_s=rates, notes=(_LEADER_FIRST,) if topics else ()
    )


def _records(document: Document, root: dict[str, object]) -> Iterator[tuple[FieldPath, dict[str, object]]]:
    for i, value in enumerate(document.array(root["records"], ("records",))):
        yield ("records", i), document.mapping(value, ("records", i))


def _topics(document: Document, rows: dict[str, list[PartitionDescription]]) -> tuple[TopicDescription, ...]:
    return tuple([topic_of(topic, listed, partial(document.reject, ())) for topic, listed in rows.items()])


def _ids(document: Document, value: object, path: FieldPath) -> tuple[int, ...]:
    return tuple([document.integer(item, (*path, i)) for i, item in enumerate(document.array(value, path))])


def _id_of(document: Document, key: str, path: FieldPath) -> int:
    return document.integer(int(key) if key.isascii() and key.isdigit() and len(key) <= 10 else key, path)


def _owns(document: object) -> bool:
    if not isinstance(document, dict):
        return False
    if document.keys() & {_BROKER_STATE, _PARTITION_STATE, _CAPACITIES}:
        return True
    listed = document.get("brokers", document.get("records"))
    first = listed[0] if isinstance(listed, list) and listed else None
    if not isinstance(first, dict):
        return False
    return ("Broker" in first and "hosts" in document) or ("brokers" not in document and "followers" in first)


SOURCE = Source("Cruise Control", read, _HEADER, _ROW, _owns)
