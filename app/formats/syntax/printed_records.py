"""Records of topics, groups and partitions as Java's and Python's clients print them, as JSON of the same contents.

    (name=orders, internal=false, partitions=(partition=0, leader=k1:9092 (id: 1 rack: a), replicas=k1:9092 (id: 1 rack:
     a), isr=k1:9092 (id: 1 rack: a)), authorizedOperations=null)                   TopicDescription
    (groupId=billing, isSimpleConsumerGroup=false, members=(memberId=m, groupInstanceId=null, clientId=c, host=/h,
     assignment=(topicPartitions=orders-0,orders-1)), partitionAssignor=range, state=Stable, coordinator=k1:9092 (id: 1
     rack: a), authorizedOperations=[])                                             ConsumerGroupDescription
    Partition(topic = orders, partition = 0, leader = 1, replicas = [1,2], isr = [1], offlineReplicas = [])
                                                                                    PartitionInfo
    PartitionMetadata(topic='orders', partition=0, leader=1, replicas=[1], isr=[1], error=NoError)    kafka-python
    BrokerMetadata(nodeId=1, host='k1', port=9092, rack='a')                                          kafka-python

What is around the records of a line, such as a list, a map or a log's prefix, is dropped. A line may have been wrapped
into several. One whose last record has no end, or that has both groups and topics, stays as it is. A value that has a
comma, an equals sign or a bracket is not the text that a reader expects, and is rejected there.

Source: `toString` of these classes of Apache Kafka 1.0 to 4.1; `structs.py` of kafka-python 2.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

_TOKEN = re.compile(
    r"(?P<host>[^\s(),=\[]{0,253}):(?P<port>-?\d{1,5}) \(id: (?P<id>-?\d{1,10}) rack: (?P<rack>[^\s()]{1,249})"
    r"(?: isFenced: (?P<fenced>true|false))?\)"
    r"|(?P<key>\w{1,40}) ?= ?|(?P<open>\w{0,40}[(\[{])|(?P<close>[)\]}])|(?P<value>[^\s,()\[\]{}=][^,()\[\]{}=]*)"
)
_RECORD = re.compile(
    r"\w{0,40}\((?:name=[^=]{1,249}, internal|groupId|(?:topic ?= ?[^=]{1,260}, )?partition|node_?[iI]d) ?="
)
_LISTS = ("partitions", "members", "replicas", "isr")
_KINDS = {"groupId": "results", "name": "topics", "partition": "partitions"}
"""By a field of a record, the list of an answer that it is of; the others are brokers."""
_REQUIRED = {
    "partition": {"leader", "replicas", "isr"},
    "memberId": {"clientId", "host", "assignment"},
    "groupId": {"members", "partitionAssignor", "coordinator"},
    "internal": {"name", "partitions"},
}
"""By a field of a record, the others that it has in every release."""
_NUMBERS = ("partition", "leader", "replicas", "isr", "nodeId", "node_id", "port")
_OPTIONAL = ("leader", "rack", "groupInstanceId", "coordinator")
_DEEPEST = 5
_MOST_WRAPPED = 10_000


def as_json(text: str) -> str:
    """The text with each line of records as a line of JSON."""
    lines = text.split("\n") if _has_signs(text) else []
    for at, line in enumerate(lines):
        if _has_signs(line):
            end = _end(lines, at)
            whole = _joined(lines[at:end])
            if _RECORD.search(whole):
                with suppress(ValueError):
                    lines[at:end] = [json.dumps(_answer(whole)), *[""] * (end - at - 1)]
    return "\n".join(lines) or text


def _has_signs(text: str) -> bool:
    """Whether a text may have records: no other text of a tool has these signs."""
    return any(sign in text for sign in ("(name=", "(groupId=", "(topic", "(partition=", "(nodeId", "(node_id"))


def _end(lines: Sequence[str], at: int) -> int:
    """The index after the line on which the brackets of a line are closed, if that is soon, else after the line."""
    depth = 0
    for end in range(at, min(at + _MOST_WRAPPED, len(lines))):
        depth += _opened(lines[end])
        if depth <= 0:
            return end + 1
    return at + 1


def _joined(lines: Sequence[str]) -> str:
    """Lines as one: those of equal length were wrapped anywhere, those of others at blanks."""
    lengths = {len(line) for line in lines[:-1]}
    return ("" if len(lengths) == 1 else " ").join(lines)


def _opened(line: str) -> int:
    return sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))


def _answer(line: str) -> dict[str, list[Any]]:
    """The records of a line as a client's answer. Raises `ValueError` if one is broken, or if groups are not alone."""
    # A list or a map that is cut off between two of its records has fewer closing brackets.
    if _opened(line):
        raise ValueError
    nodes = [_node(token) for token in _TOKEN.finditer(line) if token["id"]]
    answer: dict[str, list[Any]] = {"results": [], "brokers": list(filter(None, nodes)), "topics": [], "partitions": []}
    tokens = _TOKEN.finditer(line)
    for token in tokens:
        if token["open"] and _RECORD.match(line, token.start()):
            record = _contents(tokens, _DEEPEST)
            answer[next((name for key, name in _KINDS.items() if key in record), "brokers")].append(record)
    if not answer["results"]:
        return {name: listed for name, listed in answer.items() if listed}
    if answer["topics"] or answer["partitions"]:
        raise ValueError
    return {"results": answer["results"]}  # the nodes beside them are coordinators


def _contents(tokens: Iterator[re.Match[str]], levels: int) -> Any:
    """The values up to a closing bracket, by name if they have names.

    Raises `ValueError` without the bracket, and if a record lacks a field.
    """
    named: dict[str, list[Any]] = {}
    key, values = "", list[Any]()
    for token in tokens:
        if token["close"]:
            return _record(named) if named else values
        if token["key"]:
            key, values = token["key"], []
            named[key] = values
        elif token["open"]:
            if not levels:
                break
            values.append(_contents(tokens, levels - 1))
        elif token["id"]:
            values.append(_node(token))
        else:
            values.append(_scalar(key, token["value"].strip().strip("'")))
    raise ValueError


def _record(named: dict[str, list[Any]]) -> dict[str, Any]:
    if any(key in named and not named.keys() >= others for key, others in _REQUIRED.items()):
        raise ValueError
    return {name: _field(name, values) for name, values in named.items()}


def _field(name: str, values: list[Any]) -> Any:
    """The value of a field, of which Java prints one, several without brackets, or a list in brackets."""
    listed = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if name == "topicPartitions":
        parts = [str(one).rpartition("-") for one in listed]
        return [{"topic": topic, "partition": _scalar("partition", number)} for topic, _, number in parts]
    if name in _LISTS:
        return [_scalar(name, one) if isinstance(one, str) else one for one in listed]
    return values[0] if len(values) == 1 else values or None


def _scalar(key: str, text: str) -> Any:
    if key in _OPTIONAL and text in ("null", "none", "None"):
        return None
    return int(text) if key in _NUMBERS and re.fullmatch(r"-?[0-9]{1,10}", text) else text


def _node(token: re.Match[str]) -> dict[str, Any] | None:
    """A broker; None of the one that stands for none."""
    rack, is_fenced = _scalar("rack", token["rack"]), token["fenced"] == "true"
    node = {"id": int(token["id"]), "host": token["host"], "rack": rack, "isFenced": is_fenced}
    return None if token["id"].startswith("-") else node
