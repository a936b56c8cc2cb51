"""Resources of Strimzi, pods and nodes, as `kubectl get -o yaml` (or `-o json`) prints them.

    apiVersion: kafka.strimzi.io/v1beta2           KafkaNodePool: the ids, roles and disks of brokers
    kind: KafkaNodePool                            Kafka: the release, the kind of controller, `rack.topologyKey`, and,
    metadata: {name: brokers}                             without node pools, the number of brokers and their disks
    spec:                                          KafkaTopic: partitions, replicas and `config`, but no placement
      roles: [broker]                              Pod, Node: the node of a broker and the label of the node that is
      storage: {type: jbod, volumes: […]}                 its rack
    status: {nodeIds: [0, 1, 2]}

Other resources are ignored. YAML is read without types, tags or aliases, up to a size and a depth (yaml_documents.py).

Source: the custom resources of Strimzi 0.3x to 0.4x; Kubernetes' quantities.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from app.core.kafka_versions import Controller
from app.core.model import Broker, BrokerCapacity
from app.formats.clusters.stated_configs import Configs, deciding, of_brokers, recorded
from app.formats.sources import deciders
from app.formats.sources.contents import Contents, Note, Source
from app.formats.syntax import yaml_documents
from app.formats.syntax.lines import rejection, shown, whole_number
from app.formats.syntax.yaml_documents import Yaml

_GROUP = "kafka.strimzi.io/"
_CLUSTER, _BROKER_ROLE = "strimzi.io/cluster", "strimzi.io/broker-role"
_QUANTITY = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,9})?)(?P<unit>[KMGTPE]i|[kMGTPE])?")
_UNITS = {unit: 1000 ** (i + 1) for i, unit in enumerate("kMGTPE")} | {
    f"{unit}i": 1024 ** (i + 1) for i, unit in enumerate("KMGTPE")
}
_POD = re.compile(r".*-(?P<id>\d{1,10})")
_SUMS = "; rackplan plan reassignment --request takes it, and checks take Cruise Control's proposals"
_OTHER_KINDS = [f"'Kafka{kind}'" for kind in ("Bridge", "Connect", "Connector", "MirrorMaker2", "Rebalance", "User")]
_LISTED = 5
_SMALLEST_DISK_BYTES = 1 << 20  # less is a size whose unit is lost
_MOST_BROKERS = 100_000


@dataclass(slots=True)
class _Resources:
    """The resources of one Kafka cluster."""

    clusters: set[str] = field(default_factory=set)
    brokers: dict[int, Broker] = field(default_factory=dict)
    without_pools: dict[int, Broker] = field(default_factory=dict)
    pools_without_ids: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    topic_configs: dict[str, Configs] = field(default_factory=dict)
    default_configs: Configs = field(default_factory=dict)
    deciding: frozenset[tuple[str, str]] = frozenset()
    rebalances: bool = False
    topology_key: str | None = None
    kafka_version: str | None = None
    controller: Controller | None = None
    node_of: dict[int, str] = field(default_factory=dict)
    labels_of: dict[str, Mapping[str, object]] = field(default_factory=dict)


def read(text: str) -> Contents:
    """The brokers with their disks, and with their racks if pods and nodes are there as well.

    Raises
    ------
    MalformedText
        The text is no YAML, is too large or too deep, has aliases, or resources of several Kafka clusters.
    """
    resources = _Resources()
    others: list[str] = []
    is_any_taken = False
    for line, document in _documents(text):
        for resource in yaml_documents.resources(document):
            is_taken = _take(resources, resource)
            is_any_taken |= is_taken
            others += [] if is_taken else [shown(str(resource.get("kind")))]
        if len(resources.clusters) > 1:
            named = ", ".join(map(shown, sorted(resources.clusters)[:_LISTED]))
            raise rejection(line, expected="the resources of one Kafka cluster", actual=f"those of {named}")
    if not is_any_taken:
        kinds = ", ".join(others[:_LISTED]) or "nothing"
        detail = f"{kinds} is not read: neither a Kafka, KafkaNodePool or KafkaTopic of Strimzi nor a pod or a node"
        sums = _SUMS if shown("KafkaRebalance") in others else ""
        return Contents(notes=(Note("resources_not_read", detail + sums),))
    contents = _contents(resources)
    odd = [kind for kind in others if kind.startswith(("'Kafka", "'None'")) and kind not in _OTHER_KINDS]
    broken = [f"{kind} is not read" for kind in odd[:_LISTED]] + resources.incomplete[:_LISTED]
    notes = [Note("resources_not_read", "; ".join(broken))] if broken else []
    return replace(contents, notes=(*contents.notes, *notes))


def _contents(resources: _Resources) -> Contents:
    brokers = []
    for broker_id, broker in (resources.brokers or resources.without_pools).items():
        labels = resources.labels_of.get(resources.node_of.get(broker_id, ""), {})
        rack = labels.get(resources.topology_key or "")
        brokers.append(Broker(broker_id, rack if isinstance(rack, str) and rack else None, capacity=broker.capacity))
    notes = []
    if brokers and any(broker.rack is None for broker in brokers):
        key = resources.topology_key
        racks = f"are the label {shown(key)} of the brokers' nodes" if key else "are not set (spec.kafka.rack)"
        detail = f"the racks of Strimzi's brokers {racks}; kubectl get pods,nodes -o yaml adds them, or the output of "
        notes.append(Note("racks_not_in_source", detail + "kafka-broker-api-versions"))
    if resources.pools_without_ids or (resources.clusters and not brokers):
        pools = ", ".join(map(shown, resources.pools_without_ids[:_LISTED]))
        detail = f"node pools without status.nodeIds have unknown brokers: {pools}" if pools else "no broker is listed"
        notes.append(Note("node_ids_not_in_source", detail + "; kubectl get kafka,kafkanodepools -o yaml lists them"))
    notes += [*deciders.of_configs(resources.deciding), *[deciders.AUTO_REBALANCE] * resources.rebalances]
    if resources.topics:
        named = f"{', '.join(resources.topics[:_LISTED])} of {len(resources.topics)}"
        detail = f"KafkaTopic has no placement, which kafka-topics --describe prints: {named}"
        notes.append(Note("topics_without_placement", detail))
    return Contents(
        tuple(brokers),
        topic_configs=resources.topic_configs,
        default_configs=resources.default_configs,
        controller=resources.controller,
        kafka_version=resources.kafka_version,
        notes=tuple(notes),
    )


def _take(resources: _Resources, resource: Mapping[str, object]) -> bool:
    """Whether the resource is one that says something of a cluster."""
    kind, version = resource.get("kind"), resource.get("apiVersion")
    metadata, spec, status = (_mapping(resource, key) for key in ("metadata", "spec", "status"))
    name, labels = _text(metadata, "name"), _mapping(metadata, "labels")
    if version == "v1" and kind == "Node":
        resources.labels_of[name] = labels
    elif version == "v1" and kind == "Pod":
        _take_pod(resources, name, labels, spec)
    elif not (isinstance(version, str) and version.startswith(_GROUP)):
        return False
    elif kind == "Kafka":
        resources.clusters.add(name)
        _take_kafka(resources, _mapping(metadata, "annotations"), spec, status)
    elif kind == "KafkaNodePool":
        if isinstance(cluster := labels.get(_CLUSTER), str):
            resources.clusters.add(cluster)
        _take_pool(resources, name, spec, status)
    elif kind == "KafkaTopic":
        topic = _text(spec, "topicName") or name
        counts = f"{_text(spec, 'partitions') or '?'} partitions, {_text(spec, 'replicas') or '?'} replicas"
        resources.topics.append(f"{shown(topic)} ({counts[:60]})")
        resources.topic_configs[topic] = recorded(_texts(spec, "config"))
    else:
        return False
    return True


def _take_pod(resources: _Resources, name: str, labels: Mapping[str, object], spec: Mapping[str, object]) -> None:
    pod = _POD.fullmatch(name)
    broker_id = None if pod is None else whole_number(pod["id"])
    is_broker = labels.get(_BROKER_ROLE, "true") == "true" and _CLUSTER in labels
    if is_broker and broker_id is not None and _text(spec, "nodeName"):
        resources.node_of[broker_id] = _text(spec, "nodeName")


def _take_kafka(
    resources: _Resources,
    annotations: Mapping[str, object],
    spec: Mapping[str, object],
    status: Mapping[str, object],
) -> None:
    kafka = _mapping(spec, "kafka")
    resources.default_configs = of_brokers(_texts(kafka, "config"))
    resources.deciding = deciding(_texts(kafka, "config"))
    resources.rebalances = bool(_sequence(_mapping(spec, "cruiseControl"), "autoRebalance"))
    resources.topology_key = _text(_mapping(kafka, "rack"), "topologyKey") or None
    resources.kafka_version = _text(status, "kafkaVersion") or _text(kafka, "version") or None
    state = _text(status, "kafkaMetadataState")
    is_kraft = state == "KRaft" or (annotations.get("strimzi.io/kraft") == "enabled" and state != "ZooKeeper")
    resources.controller = "kraft" if is_kraft else "zookeeper" if "zookeeper" in spec else resources.controller
    replicas = whole_number(_text(kafka, "replicas"))
    if replicas is not None and replicas <= _MOST_BROKERS:
        capacity = _capacity(_mapping(kafka, "storage"))
        resources.without_pools |= {broker_id: Broker(broker_id, capacity=capacity) for broker_id in range(replicas)}


def _take_pool(resources: _Resources, name: str, spec: Mapping[str, object], status: Mapping[str, object]) -> None:
    roles = _sequence(spec, "roles")
    if not roles:
        resources.incomplete.append(f"the node pool {shown(name)} has no roles")
    if "controller" in roles:
        resources.controller = "kraft"
    if "broker" not in roles:
        return
    ids = [whole_number(item) if isinstance(item, str) else None for item in _sequence(status, "nodeIds")]
    if None in ids or (not ids and _text(spec, "replicas") != "0"):
        resources.pools_without_ids.append(name)
    capacity = _capacity(_mapping(spec, "storage"))
    if capacity is None and "persistent-claim" in str(spec.get("storage")):
        resources.incomplete.append(f"a disk of the node pool {shown(name)} has no size")
    resources.brokers |= {broker: Broker(broker, capacity=capacity) for broker in ids if broker is not None}


def _capacity(storage: Mapping[str, object]) -> BrokerCapacity | None:
    """The bytes of all volumes of a broker; None if the size of one is unknown."""
    is_jbod = storage.get("type") == "jbod"
    volumes = _sequence(storage, "volumes") if is_jbod else [storage]
    ids = [str(volume.get("id", at)) if isinstance(volume, Mapping) else str(at) for at, volume in enumerate(volumes)]
    sizes = [_bytes(volume) for volume in dict(zip(ids, volumes, strict=True)).values()]
    known = [size for size in sizes if size is not None]
    return BrokerCapacity(disk_bytes=sum(known)) if known and len(known) == len(sizes) else None


def _bytes(volume: object) -> int | None:
    stated = volume.get("size", volume.get("sizeLimit")) if isinstance(volume, Mapping) else None
    quantity = _QUANTITY.fullmatch(stated) if isinstance(stated, str) else None
    if quantity is None:
        return None
    size = round(float(quantity["number"]) * _UNITS.get(quantity["unit"] or "", 1))
    return size if _SMALLEST_DISK_BYTES <= size < 2**62 else None


def _documents(text: str) -> Iterator[tuple[int, Yaml]]:
    """The YAML documents with their first lines. Two outputs of kubectl have nothing between them."""
    lines = text.split("\n")
    start = 0
    keys: set[str] = set()
    for number, line in enumerate([*lines, "{"]):
        key = line.partition(":")[0]
        if line.startswith("{") or key in keys:
            for document in yaml_documents.documents_of_part("\n".join(lines[start:number]), start):
                yield document.line, document.root
            start = number
            keys.clear()
        if key in ("apiVersion", "kind"):
            keys.add(key)


def _mapping(members: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = members.get(key)
    return value if isinstance(value, Mapping) else {}


def _sequence(members: Mapping[str, object], key: str) -> list[object]:
    value = members.get(key)
    return value if isinstance(value, list) else []


def _texts(members: Mapping[str, object], key: str) -> list[tuple[str, str]]:
    return [(name, value) for name, value in _mapping(members, key).items() if isinstance(value, str)]


def _text(members: Mapping[str, object], key: str) -> str:
    value = members.get(key)
    return value if isinstance(value, str) else ""


def _owns(document: object) -> bool:
    return isinstance(document, dict) and {"apiVersion", "kind"} <= document.keys()


SOURCE = Source(
    "Strimzi",
    read,
    re.compile(r"(?:apiVersion|kind):\s"),
    re.compile(r"\s+\S|(?:- )?(?:apiVersion|kind|metadata|spec|status|items|data|type):|#|\.\.\.\s*$|[\]}]"),
    _owns,
)
