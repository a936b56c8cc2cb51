"""Topics as they are to be, in YAML or JSON: of operators, topicctl, Terraform, Ansible, kafka-gitops and Julie.

    apiVersion: kafka.strimzi.io/v1beta2        meta:
    kind: KafkaTopic                              name: orders
    metadata:                                     cluster: prod-eu
      name: orders                              spec:
      labels: {strimzi.io/cluster: prod-eu}       partitions: 12
    spec:                                         replicationFactor: 3
      topicName: orders                           placement:
      partitions: 12                                strategy: cross-rack
      replicas: 3                                   staticAssignments: [[101, 105], …]

`kind: Topic` of Redpanda's operator and of Conduktor has `replicationFactor`, Confluent's operator `partitionCount`,
Koperator `spec.name`, and Crossplane all of them in `spec.forProvider`. Without a kind, each object with a name and a
number of partitions is a topic:

    kafka_topic: {name: orders, partitions: 12, replica_factor: 3}          Ansible, also several under `topics`
    topics: {orders: {partitions: 12, replication: 3}}                      kafka-gitops
    {context: c, projects: [{name: p, topics: [{name: orders, config: {num.partitions: 12, replication.factor: 3}}]}]}
                                                                            Julie: the topic c.p.orders
    {"planned_values": {"root_module": {"resources": [{"values": {"name": "orders", "partitions": 12,
     "replication_factor": 3}}]}}}                                          terraform show -json, of a plan or a state
    resource "kafka_topic" "orders" {
      name               = "orders"                                         Terraform's language, without expressions
      partitions         = 12
      replication_factor = 3
    }

A file may have several documents, and Kubernetes' lists of resources. Resources of other kinds, and topics that are to
be `absent`, are ignored. What a topic does not state (Strimzi takes -1 for that, too) may be as it is.

Source: Strimzi's `KafkaTopicSpec`; topicctl's `TopicConfig` and `TopicPlacementConfig`; the documentation of Redpanda's
operator, Conduktor, ansible-kafka-admin, kafka-gitops, Julie and Terraform's JSON output and providers of Kafka.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.errors.quotation import suggestion
from app.errors.requests import MalformedText
from app.formats.syntax import prefixes, yaml_documents
from app.formats.syntax.lines import is_topic_name, rejection, shown, whole_number
from app.formats.syntax.yaml_documents import Yaml, YamlDocument, line_of

_KEY = re.compile(
    r"\s*(?:- )?(?:meta|spec|apiVersion|kind|metadata|name|labels|topicName|partitions|replicas|replicationFactor"
    r"|placement|strategy|topics|projects|context|kafka_topic|replica(?:tion)?_factor|replication):(?:\s|$)"
    r"|\s*(?:[\[\]{}],?\s*$|\"\w{1,60}\": )"
)
_BLOCK = re.compile(
    r'^resource\s+"\w{0,60}topic\w{0,60}"\s+"[^"\n]{1,250}"\s*\{(?P<body>(?:\n(?!\}).*+)*+)', re.MULTILINE
)
_ASSIGNMENT = re.compile(
    r'^[ \t]+(?P<key>\w{1,60})[ \t]*=[ \t]*(?:(?:"(?P<text>[^"\n]{0,250})"|(?P<number>\d{1,10}))[ \t\r]{0,99}(?:$|#|//)'
    r"|(?P<expression>[^\n]{0,250}))",
    re.MULTILINE,
)
_PARTITIONS = ("partitions", "partitions_count", "num.partitions", "partitionCount")
_NAMES = ("topicName", "overwriteTopicName", "name")
_FACTORS = ("replication_factor", "replica_factor", "replication", "replicationFactor", "replication.factor")


class Strategy(StrEnum):
    """Where the replicas of a partition may be, in topicctl's words."""

    ANY = "any"
    """Anywhere."""
    BALANCED_LEADERS = "balanced-leaders"
    """Anywhere; every rack leads as many partitions of the topic."""
    IN_RACK = "in-rack"
    """In one rack."""
    CROSS_RACK = "cross-rack"
    """In as many racks as there are replicas."""
    STATIC = "static"
    """On the listed brokers."""
    STATIC_IN_RACK = "static-in-rack"
    """In the listed rack."""


@dataclass(frozen=True, slots=True)
class DesiredTopic:
    """A topic as it is to be; None is anything.

    Parameters
    ----------
    cluster : that the document names. line : of its first key.
    replicas, racks : by partition id, of the strategies `static` and `static-in-rack`.
    """

    name: str
    line: int
    partitions: int | None = None
    replication_factor: int | None = None
    cluster: str | None = None
    strategy: Strategy = Strategy.ANY
    replicas: Sequence[Sequence[int]] = ()
    racks: Sequence[str] = ()


def read(text: str) -> list[DesiredTopic]:
    """The topics of the documents, in their order; a prefix of all lines is removed if it has to be.

    Raises
    ------
    MalformedText
        The text is no YAML (yaml_documents.py), has no topic or one twice, or a topic has a value that Kafka cannot
        have, or a strategy that topicctl does not know; names the line of the topic's first key.
    """
    try:
        return _read(text)
    except MalformedText as malformed:
        bare = prefixes.of_one_host(text, lambda line: _KEY.match(line) is not None)
        if bare == text:
            raise
        try:
            return _read(bare)
        except MalformedText as within:
            raise max(malformed, within, key=lambda each: each.line or 0) from None  # what was read further


def _read(text: str) -> list[DesiredTopic]:
    topics: dict[str, DesiredTopic] = {}
    for document in _terraform(text) or yaml_documents.read(text):
        for topic in _topics(document):
            if topic.name in topics:
                raise rejection(topic.line, expected="each topic once", actual=f"{topic.name} again")
            topics[topic.name] = topic
    if not topics:
        expected = "topics of Strimzi, topicctl, Redpanda, Conduktor, Terraform, Ansible, kafka-gitops or Julie"
        raise rejection(1, expected=expected, actual="none")
    return list(topics.values())


def _terraform(text: str) -> list[YamlDocument]:
    """The topics of a file in Terraform's language; an expression stays one, and is rejected where it counts."""
    return [
        YamlDocument(
            text.count("\n", 0, block.start()) + 1,
            {
                one["key"]: one["text"] or one["number"] or f"{one['expression']}, as terraform show -json resolves it"
                for one in _ASSIGNMENT.finditer(block["body"])
            },
        )
        for block in _BLOCK.finditer(text)
    ]


def _topics(document: YamlDocument) -> Iterator[DesiredTopic]:
    root = document.root
    if isinstance(root, dict) and not root.keys() & {"kind", "spec"}:
        # Terraform's plan has each topic also as it was.
        root = root.get("planned_values", root.get("values", root))
    if isinstance(root, dict) and root.keys() & {"kind", "spec"}:
        for members in yaml_documents.resources(root):
            if (topic := _topic(YamlDocument(line_of(members, document), members), members)) is not None:
                yield topic
    else:
        yield from _plain_topics(document, root, ())


def _plain_topics(document: YamlDocument, value: Yaml, prefix: tuple[str, ...]) -> Iterator[DesiredTopic]:
    """The objects with a name and a number of partitions; in topologies of Julie a prefix is before the names."""
    if isinstance(value, list):
        for item in value:
            yield from _plain_topics(document, item, prefix)
    if not isinstance(value, dict) or value.get("state") == "absent":
        return
    document = YamlDocument(line_of(value, document), value)
    config = value.get("config")
    stated = {**value, **config} if isinstance(config, dict) else value
    partitions, factor = _stated(stated, _PARTITIONS), _stated(stated, _FACTORS)
    name, kind = value.get("name", value.get("topic_name")), value.get("dataType")
    if partitions and name is not None:
        parts = [*prefix, _name(document, name), *([_name(document, kind)] if kind else [])]
        counts = _count(document, stated, partitions, parts[-1]), _count(document, stated, factor, parts[-1])
        yield DesiredTopic(".".join(parts), document.line, *counts)
    elif "projects" in value:
        yield from _of_projects(document, value)
    else:
        for key, item in value.items():
            if key != "settings":  # of kafka-gitops: defaults, which are no topic
                yield from _plain_topics(document, _with_names(key, item), prefix)


def _of_projects(document: YamlDocument, topology: Mapping[str, Yaml]) -> Iterator[DesiredTopic]:
    names = tuple([one for one in topology.values() if isinstance(one, str)])
    for project in _rows(topology["projects"]):
        if isinstance(project, dict):
            of_project = (*names, _name(document, project.get("name")))
            yield from _plain_topics(document, project.get("topics", []), of_project)


def _with_names(key: str, value: Yaml) -> Yaml:
    """The value of a key; of `topics` by their names a list of them."""
    if key != "topics" or not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        return value
    for name, one in value.items():
        if isinstance(one, dict):
            one.setdefault("name", name)
    return list(value.values())


def _topic(document: YamlDocument, members: Mapping[str, Yaml]) -> DesiredTopic | None:
    if (kind := members.get("kind")) in ("KafkaTopic", "Topic"):
        return _of_operator(document, is_labelled=kind == "KafkaTopic")
    if "kind" in members or not {"meta", "spec"} <= members.keys() or "partitions" not in _members(document, "spec"):
        return None
    return _of_topicctl(document)


def _of_operator(document: YamlDocument, *, is_labelled: bool) -> DesiredTopic:
    meta = _members(document, "metadata")
    spec = _members(document, "spec", "forProvider") or _members(document, "spec")
    labels = meta.get("labels") if is_labelled else {"strimzi.io/cluster": meta.get("cluster", "")}
    name = _name(document, spec.get(_stated(spec, _NAMES), meta.get("name")))
    return DesiredTopic(
        name=name,
        line=document.line,
        partitions=_count(document, spec, _stated(spec, _PARTITIONS), name),
        replication_factor=_count(document, spec, _stated(spec, ("replicas", *_FACTORS)), name),
        cluster=_text(labels.get("strimzi.io/cluster")) if isinstance(labels, dict) else None,
    )


def _of_topicctl(document: YamlDocument) -> DesiredTopic:
    meta, spec = _members(document, "meta"), _members(document, "spec")
    placement = _members(document, "spec", "placement") if "placement" in spec else {}
    topic = DesiredTopic(
        name=(name := _name(document, meta.get("name"))),
        line=document.line,
        partitions=_count(document, spec, "partitions", name),
        replication_factor=_count(document, spec, "replicationFactor", name),
        cluster=_text(meta.get("cluster")),
        strategy=_strategy(document, placement.get("strategy", Strategy.ANY)),
        replicas=[_ids(document, row) for row in _rows(placement.get("staticAssignments"))],
        racks=[str(rack) for rack in _rows(placement.get("staticRackAssignments"))],
    )
    by_strategy: Mapping[Strategy, Sequence[object]] = {
        Strategy.STATIC: topic.replicas,
        Strategy.STATIC_IN_RACK: topic.racks,
    }
    rows = by_strategy.get(topic.strategy)
    if rows is not None and len(rows) != topic.partitions:
        expected = f"an entry for each of the {topic.partitions} partitions of {topic.name}"
        raise rejection(document.line, expected=expected, actual=f"{len(rows)} under the strategy {topic.strategy}")
    return topic


def _members(document: YamlDocument, *keys: str) -> dict[str, Yaml]:
    value = document.root
    for key in keys:
        value = value.get(key, {}) if isinstance(value, dict) else {}
    if not isinstance(value, dict):
        raise rejection(document.line, expected=f"a mapping as {'.'.join(keys)}", actual=shown(str(value)))
    return value


def _stated(spec: Mapping[str, Yaml], keys: Sequence[str]) -> str:
    """The first of some keys that is there, or an empty text."""
    return next((key for key in keys if key in spec), "")


def _name(document: YamlDocument, value: "Yaml | None") -> str:
    if not isinstance(value, str) or not is_topic_name(value):
        raise rejection(document.line, expected="the name of a topic", actual=shown(str(value)))
    return value


def _count(document: YamlDocument, spec: Mapping[str, Yaml], key: str, of: str) -> int | None:
    value = spec.get(key, "-1")
    if value in ("-1", "null", "~", ""):
        return None
    number = whole_number(value) if isinstance(value, str) else None
    if not number:
        raise rejection(document.line, expected=f"a number from 1 on as {key} of {of}", actual=shown(str(value)))
    return number


def _strategy(document: YamlDocument, value: Yaml) -> Strategy:
    known = [strategy.value for strategy in Strategy]
    if value not in known:
        actual = shown(str(value)) + suggestion(str(value), known)
        raise rejection(document.line, expected=f"a strategy: {', '.join(known)}", actual=actual)
    return Strategy(str(value))


def _rows(value: "Yaml | None") -> Sequence[Yaml]:
    return value if isinstance(value, list) else ()


def _ids(document: YamlDocument, row: Yaml) -> tuple[int, ...]:
    ids = [whole_number(one) if isinstance(one, str) else None for one in _rows(row)]
    if not ids or None in ids or len(set(ids)) < len(ids):
        raise rejection(document.line, expected="the ids of distinct brokers", actual=shown(str(row)))
    return tuple(one for one in ids if one is not None)


def _text(value: "Yaml | None") -> str | None:
    return value if isinstance(value, str) and value else None
