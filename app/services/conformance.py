"""Run measured cases against the algorithms: does each answer what Kafka's own code answered?

A vector file is named for its algorithm and holds a JSON object a line: `name`, `input`, `expected` and perhaps
`hash_sensitivity`. Whatever that says, the answer has to be the same, to the order of a list.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from app.core.jvm import JavaHashMap, JavaRandom, KeyType
from app.core.jvm import hashes as java
from app.core.model import Broker, NewTopic
from app.core.replicas import admin_utils, striped
from app.errors import KafkaRefuses

SHOWN_MISMATCHES = 3
_WIDEST_LINE = 160

Answer = Callable[[Mapping[str, Any]], Any]
KAFKAS_OWN = frozenset(
    {
        "AdminOperationException",
        "InvalidPartitionsException",
        "InvalidReplicationFactorException",
        "PartitionAssignorException",
        "SchemaException",
    }
)
"""Exceptions whose message is Kafka's, and has to be the same; what others say is the JVM's affair."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A case that is answered differently."""

    name: str
    expected: Any
    answered: Any

    def text(self) -> str:
        """The first places that differ, one under the other."""
        differing = list(_differences(self.expected, self.answered, ""))[:5]
        return "\n".join([f"  {self.name}", *starmap(_difference_text, differing)])


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one algorithm's cases; `mismatches` is None where there is no implementation yet."""

    algorithm: str
    cases: int
    mismatches: Sequence[Mismatch] | None

    def text(self) -> str:
        """A line, and the first mismatches as a readable difference."""
        if self.mismatches is None:
            return f"{self.algorithm}: {self.cases} cases, not implemented"
        line = f"{self.algorithm}: {self.cases} cases, {len(self.mismatches)} mismatches"
        return "\n".join([line, *(mismatch.text() for mismatch in self.mismatches[:SHOWN_MISMATCHES])])


def run(folder: Path) -> Iterator[Report]:
    """Run every vector file of a folder, one algorithm after another by name."""
    for path in sorted(folder.glob("*.jsonl")):
        cases = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        answer = ANSWERS.get(path.stem)
        mismatches = None if answer is None else list(_mismatches(cases, answer))
        yield Report(path.stem, len(cases), mismatches)


def _mismatches(cases: Sequence[Mapping[str, Any]], answer: Answer) -> Iterator[Mismatch]:
    for case in cases:
        answered = _attempt(answer, case["input"])
        if not _same(case["expected"], answered):
            yield Mismatch(case["name"], case["expected"], answered)


def _attempt(answer: Answer, given: Mapping[str, Any]) -> Any:
    try:
        return answer(given)
    except KafkaRefuses as refusal:
        return {"error": refusal.kafka.exception, "message": refusal.kafka.message}


def _same(expected: Any, answered: Any) -> bool:
    if isinstance(expected, dict) and isinstance(answered, dict):
        if "error" in expected and expected["error"] not in KAFKAS_OWN:
            return bool(expected["error"] == answered.get("error"))
        return expected.keys() == answered.keys() and all(_same(expected[key], answered[key]) for key in expected)
    if isinstance(expected, list) and isinstance(answered, list):
        return len(expected) == len(answered) and all(map(_same, expected, answered))
    return bool(expected == answered)


def _differences(expected: Any, answered: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two answers part, as deep inside them as can be."""
    if isinstance(expected, dict) and isinstance(answered, dict) and expected.keys() == answered.keys():
        for key in expected:
            yield from _differences(expected[key], answered[key], f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(answered, list) and len(expected) == len(answered):
        for index, (was, now) in enumerate(zip(expected, answered, strict=True)):
            yield from _differences(was, now, f"{place}[{index}]")
    elif expected != answered:
        yield place, expected, answered


def _difference_text(place: str, expected: Any, answered: Any) -> str:
    was, now = (str(value)[:_WIDEST_LINE] for value in (expected, answered))
    return f"    at {place.lstrip('.') or 'the top'}\n      Kafka    {was}\n      Rackplan {now}"


# -- the algorithms, each reading its own input ------------------------------------------------------------------


def _brokers(given: Mapping[str, Any]) -> list[Broker]:
    return [Broker(broker["id"], broker["rack"], broker.get("fenced", False)) for broker in given["brokers"]]


def _admin_utils(given: Mapping[str, Any]) -> Any:
    topic = NewTopic("topic", given["n_partitions"], given["replication_factor"], given["start_partition_id"])
    placement = admin_utils.place(
        _brokers(given),
        topic,
        random=JavaRandom(given.get("random_seed", 0)),
        fixed_start_index=given["fixed_start_index"],
    )
    return {"first_partition_id": placement.first_partition_id, "replicas": placement.replicas.tolist()}


def _rack_alternated(given: Mapping[str, Any]) -> Any:
    return {"broker_ids": admin_utils.rack_alternated(_brokers(given))}


def _striped_placer(given: Mapping[str, Any]) -> Any:
    random = JavaRandom(given["random_seed"])

    def answer(wanted: Mapping[str, Any]) -> Any:
        topic = NewTopic("topic", wanted["num_partitions"], wanted["replication_factor"])
        return {"replicas": striped.place_topic(_brokers(given), topic, random).replicas.tolist()}

    return {"results": [_attempt(answer, wanted) for wanted in given["placements"]]}


def _java_random(given: Mapping[str, Any]) -> Any:
    random = JavaRandom(given["seed"])
    values: list[Any] = []
    for call, *arguments in given["calls"]:
        if call == "next_int":
            values.append(random.next_int(*arguments))
        elif call == "next_int32":
            values.append(random.next_int32())
        else:
            items = list(range(*arguments))
            random.shuffle(items)
            values.append(items)
    return {"values": values}


KEY_TYPES: Mapping[str, tuple[KeyType[Any], Callable[[Any], Any]]] = MappingProxyType(
    {
        "string": (java.STRING, str),
        "int": (java.INTEGER, int),
        "topic_partition": (java.TOPIC_PARTITION, tuple),
        "kafka_uuid": (java.KAFKA_UUID, java.kafka_uuid),
        "java_uuid": (java.JAVA_UUID, java.java_uuid),
        "task_id": (java.TASK_ID, java.task_id),
        "optional_string": (java.OPTIONAL_STRING, lambda text: text),
    }
)


def _java_hash_order(given: Mapping[str, Any]) -> Any:
    key_type, parse = KEY_TYPES[given["key_type"]]
    keys = [parse(key) for key in given["keys"]]
    hash_map: JavaHashMap[Any, int] = JavaHashMap(key_type, initial_capacity=given["initial_capacity"])
    for index, key in enumerate(keys):
        hash_map.setdefault(key, index)
    for index in given.get("remove_indices") or ():
        hash_map.pop(keys[index], None)
    return {"hash_codes": [key_type.hash_code(key) for key in keys], "iteration_order": list(hash_map.values())}


ANSWERS: Mapping[str, Answer] = MappingProxyType(
    {
        "admin_utils": _admin_utils,
        "rack_alternated": _rack_alternated,
        "striped_placer": _striped_placer,
        "java_random": _java_random,
        "java_hash_order": _java_hash_order,
    }
)
"""Every implemented algorithm by the name of its vector file."""
