"""Answers of Cruise Control: `kafka_cluster_state` and `load` as JSON and text, `partition_load` as JSON; capacities.

    {"KafkaBrokerState": {"ReplicaCountByBrokerId": {"1": 7}, …}, "KafkaPartitionState": {"other": [{"topic": "orders",
    "partition": 0, "leader": 1, "replicas": [1, 2], "in-sync": [1, 2]}], "urp": [], …}}          with verbose=true

    {"hosts": […], "brokers": [{"Broker": 1, "Rack": "a", "BrokerState": "ALIVE", "DiskCapacityMB": 100000.0,
    "NetworkInCapacity": 10000.0, "NetworkOutCapacity": 10000.0, "LeaderNwInRate": 17.5, "CpuPct": 1.1, …}]}

    {"records": [{"topic": "orders", "partition": 0, "leader": 1, "followers": [2], "disk": 12.5,
    "networkInbound": 3.2, "networkOutbound": 1.0, "cpu": 0.1, "msg_in": 4.0}]}

    HOST  BROKER  RACK  DISK_CAP(MB)  …           `load` without json=true: a header, then cells with commas
    localhost,  0,  a,  10000.000,  …

    All Partitions in the Cluster (verbose):      `kafka_cluster_state` without json=true
      TOPIC  PARTITION  LEADER  REPLICAS  IN-SYNC  OUT-OF-SYNC  OFFLINE  MIN-ISR
     orders          0       1    [1, 2]   [1, 2]           []       []        1

    {"brokerCapacities": [{"brokerId": "-1", "capacity": {"DISK": "1500000", "CPU": {"num.cores": "8"}, "NW_IN":
    "625000", "NW_OUT": "625000"}}]}          its file capacity.json: −1 is every other broker, DISK may be by directory

Units are MiB, KiB/s and percent. Where a broker has no rack, Cruise Control puts its host. The rates of `load` are of
brokers and no part of a snapshot; those of `partition_load` are of partitions. `partition_load` has the leader before
the followers, which need not be the preferred replica.

Source: `KafkaClusterState`, `BrokerStats` and `PartitionLoadState` of Cruise Control 2.x.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import nan

import orjson

from app.core.model import Broker, BrokerCapacity
from app.errors import FieldPath
from app.formats.clusters.topic_rows import PartitionDescription
from app.formats.sources.client_answers import Answers
from app.formats.sources.contents import Contents, Note, Partition, Source, contents_of_all, noted, odd_named, topic_of
from app.formats.syntax.documents import Document, each_document
from app.formats.syntax.lines import shown
from app.formats.syntax.loose_objects import LooseObject
from app.formats.syntax.odd_names import odd_name

_BROKER_STATE, _PARTITION_STATE = "KafkaBrokerState", "KafkaPartitionState"
_CAPACITIES = "brokerCapacities"
_HEADER = re.compile(r"\s*HOST\s.*\bNW_OUT\(KB/s\)\D*$")
_ROW = re.compile(r"\s*[^\s,]+,\s*\d{1,10},(?:\s*[^\s,]+,){2,}")
_STATE_HEADER = re.compile(
    r"(?:All Partitions in the Cluster \(verbose\)|Under Replicated, Offline, and Under MinIsr Partitions):"
    r"|\s+(?:TOPIC\s+PARTITION\s+LEADER|BROKER\s+LEADER\(S\))\s[A-Z_\s-]{1,400}$"
    r"|(?:Offline|Under Replicated|Under MinIsr|Other) Partitions:|Partitions with Offline Replicas:"
)
_ID = r"(?:0|[1-9]\d{0,9})"
_BROKER_ROW = re.compile(rf"\s+(?P<id>{_ID})(?:\s+{_ID}){{4}}\s+(?:true|false)(?:\s+\S+)?\s*")
_PARTITION_ROW = re.compile(
    rf"\s+(?P<topic>[a-zA-Z0-9._-]{{1,249}})\s+(?P<partition>{_ID})\s+(?P<leader>-1|{_ID})\s+"
    rf"(?P<replicas>\[(?:{_ID}, ){{0,99}}{_ID}\])\s+(?P<insync>\[(?:(?:{_ID}, ){{0,99}}{_ID})?\])\s"
)
_COLUMNS = {"HOST": "Host", "BROKER": "Broker", "RACK": "Rack", "DISK_CAP(MB)": "DiskCapacityMB"} | {
    f"NW_{way.upper()}_CAP(KB/s)": f"Network{way}Capacity" for way in ("In", "Out")
}
"""The columns of the load as a table, by the names of its JSON."""
_NUMBER = re.compile(r"(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?", re.ASCII)
_KIB, _MIB = 2**10, 2**20
_LARGEST_BYTES = 2**62
_WITHOUT_PARTITIONS = noted("cruise control without partitions")
_HOSTS_AS_RACKS = noted("cruise control hosts as racks")
_LEADER_FIRST = noted("cruise control leader first")


def read(text: str) -> Contents:
    """The brokers with racks and capacities, placements, sizes and rates, from any of the answers.

    Raises
    ------
    MalformedText
        The text is no JSON, or a value is not what it has to be.
    """
    states: list[Contents] = []
    odd: str | None = None
    loads: list[Contents] = []
    lines = text.split("\n")
    tables = filter(None, (_load_table(lines), _state_tables(lines)))
    printed = [Document.parse(orjson.dumps(table).decode(), "a table of Cruise Control") for table in tables]
    for document in [*printed, *each_document("\n".join(lines), "an answer of Cruise Control")]:
        root = document.mapping(document.root, ())
        odd = odd or odd_name(root)
        if _CAPACITIES in root:
            states.append(_capacities(document, root))
        elif "records" in root:
            loads.append(_partition_loads(document, root))
        else:
            states.append(_brokers(document, root) if "brokers" in root else _state(document, root))
    return contents_of_all([*states, *loads, Contents(notes=() if odd is None else (odd_named(odd),))])


def _load_table(lines: list[str]) -> object:
    """The table of the load as its JSON, None without one; its lines become empty."""
    rows: list[dict[str, object]] = []
    columns: list[str] = []
    for at, line in enumerate(lines):
        if _HEADER.match(line):
            columns = line.split()
        elif columns and _ROW.match(line):
            cells = zip(columns, map(str.strip, line.split(",")), strict=False)
            rows.append({_COLUMNS[column]: _scalar(cell) for column, cell in cells if column in _COLUMNS})
        else:
            continue
        lines[at] = ""
    listed = [row for row in rows if "Broker" in row]
    return {"brokers": listed} if listed else None


def _state_tables(lines: list[str]) -> object:
    """The tables of the state as its JSON, None without any; their lines become empty."""
    brokers: dict[str, int] = {}
    partitions: list[dict[str, object]] = []
    listed = "urp"
    for at, line in enumerate(lines):
        if broker := _BROKER_ROW.fullmatch(line):
            brokers[broker["id"]] = 0
        elif row := _PARTITION_ROW.match(line):
            partitions.append({key: _scalar(cell) if key != "topic" else cell for key, cell in row.groupdict().items()})
        elif _STATE_HEADER.match(line):
            listed = "other" if "(verbose):" in line else listed
        else:
            continue
        lines[at] = ""
    state = {_BROKER_STATE: {"ReplicaCountByBrokerId": brokers}, _PARTITION_STATE: {listed: partitions}}
    return state if brokers or partitions else None


def _scalar(cell: str) -> object:
    """A number or a list of JSON; another text as it is."""
    return json.loads(cell) if _NUMBER.fullmatch(cell) or cell == "-1" or cell.startswith("[") else cell


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
    amount = json.loads(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value or 0
    return document.number(amount, path)


def _state(document: Document, root: dict[str, object]) -> Contents:
    path = (_BROKER_STATE, "ReplicaCountByBrokerId")
    counts = document.mapping(document.mapping(root.get(_BROKER_STATE, {}), path[:1]).get(path[1], {}), path)
    brokers = tuple([Broker(_id_of(document, key, (*path, key))) for key in counts])
    answers = Answers()
    stated = document.mapping(root.get(_PARTITION_STATE, {}), (_PARTITION_STATE,))
    # A partition is in each list of what is wrong with it.
    for name, value in stated.items():
        answers.take(document, document.array(value, (_PARTITION_STATE, name)), (_PARTITION_STATE, name))
    return Contents(brokers, topics=tuple(answers.topics()), notes=() if "other" in stated else (_WITHOUT_PARTITIONS,))


def _brokers(document: Document, root: dict[str, object]) -> Contents:
    listed: list[tuple[Broker, object]] = []
    for item in LooseObject.of(document, root, ()).each("brokers"):
        capacity = BrokerCapacity(
            disk_bytes=_bytes(document, item.members, "DiskCapacityMB", item.path, _MIB),
            nic_in_bytes_per_s=_bytes(document, item.members, "NetworkInCapacity", item.path, _KIB),
            nic_out_bytes_per_s=_bytes(document, item.members, "NetworkOutCapacity", item.path, _KIB),
        )
        broker = Broker(
            item.integer("broker"),
            rack=item.text("rack"),
            fenced=_is_dead(item),
            capacity=None if capacity == BrokerCapacity() else capacity,
        )
        listed.append((broker, item.get("host")[1]))
    notes = tuple(_other_sums(LooseObject.of(document, root, ())))
    # Cruise Control takes the host for a rack that the broker does not have.
    if listed and all(broker.rack is not None and broker.rack == host for broker, host in listed):
        return Contents(tuple([replace(broker, rack=None) for broker, _ in listed]), notes=(_HOSTS_AS_RACKS, *notes))
    return Contents(tuple([broker for broker, _ in listed]), notes=notes)


def _is_dead(item: LooseObject) -> bool:
    path, state = item.get("brokerstate")
    if state not in (None, "ALIVE", "DEAD", "DEMOTED", "NEW", "BAD_DISKS"):
        raise item.document.reject(path, expected="the state of a broker", actual=shown(str(state)))
    return state == "DEAD"


def _other_sums(root: LooseObject) -> Iterator[Note]:
    """A host whose capacity is not that of its brokers together, as if a digit was lost."""
    sums = _sums(root, "brokers")
    for (host, key), amount in _sums(root, "hosts").items():
        if abs(sums.get((host, key), amount) - amount) > 0.001 * amount:
            detail = f"{key} of host {host} is {amount}, of its brokers together {sums[host, key]}"
            yield Note("texts_disagree", detail)
            return


def _sums(root: LooseObject, listed: str) -> dict[tuple[str, str], float]:
    """By host and key; nan with a broker that is dead, whose capacity is −1 or 0."""
    sums: dict[tuple[str, str], float] = {}
    for item in root.each(listed):
        for key in ("diskcapacitymb", "networkincapacity", "networkoutcapacity"):
            if isinstance(amount := item.get(key)[1], int | float):
                at = str(item.get("host")[1]), key
                sums[at] = sums.get(at, 0) + (amount if amount > 0 else nan)
    return sums


def _bytes(document: Document, members: Mapping[str, object], key: str, path: FieldPath, unit: int) -> int | None:
    value = members.get(key)
    # The capacity of a dead broker or disk is −1 or 0.
    if not isinstance(value, int | float) or value <= 0:
        return None
    return round(min(document.number(value, (*path, key)) * unit, _LARGEST_BYTES))


def _partition_loads(document: Document, root: dict[str, object]) -> Contents:
    rows: dict[str, list[PartitionDescription]] = {}
    sizes: dict[Partition, int] = {}
    rates: dict[tuple[str, int | None], float] = {}
    for item in LooseObject.of(document, root, ()).each("records"):
        topic, partition = item.required_topic("topic"), item.integer("partition")
        path, value = item.get("leader")
        leader = document.integer(value, path, least=-1)
        replicas = tuple([leader] if leader >= 0 else []) + item.numbers("followers")
        if replicas:
            row = PartitionDescription(partition, leader if leader >= 0 else None, replicas, replicas)
            rows.setdefault(topic, []).append(row)
        if item.has("disk"):
            sizes[topic, partition] = round(min(item.number("disk") * _MIB, _LARGEST_BYTES))
        if item.has("networkinbound"):
            rates[topic, partition] = item.number("networkinbound") * _KIB
    topics = tuple([topic_of(topic, listed, partial(document.reject, ())) for topic, listed in rows.items()])
    notes = (_LEADER_FIRST,) if topics else ()
    return Contents(topics=topics, size_bytes=sizes, ingress_bytes_per_s=rates, notes=notes)


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


SOURCE = Source(
    "Cruise Control",
    read,
    re.compile(f"{_HEADER.pattern}|{_STATE_HEADER.pattern}"),
    re.compile(f"{_ROW.pattern}|{_PARTITION_ROW.pattern}|{_BROKER_ROW.pattern}$"),
    _owns,
)
