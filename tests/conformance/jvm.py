"""Cases of Java's generator and iteration orders."""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any
from uuid import UUID

from app.core.jvm import JavaHashMap, JavaRandom, KeyType
from app.core.jvm import hashes as java


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


def java_uuid(text: str) -> UUID:
    """`java.util.UUID.fromString`: five hexadecimal numbers, of which Java keeps the low bits that fit."""
    fields = text.split("-")
    if len(fields) != 5 or not all(fields):
        raise ValueError(f"a UUID has five hexadecimal numbers joined by '-'; {text!r} given")
    value = 0
    for digits, field in zip((8, 4, 4, 4, 12), fields, strict=True):
        value = (value << 4 * digits) | (int(field, 16) & ((1 << 4 * digits) - 1))
    return UUID(int=value)


def kafka_uuid(text: str) -> UUID:
    """Kafka's `Uuid.fromString`: 16 bytes in URL-safe base64, without its padding."""
    return UUID(bytes=urlsafe_b64decode(text + "=" * (-len(text) % 4)))


KAFKA_UUID: KeyType[UUID] = KeyType("kafka_uuid", java.JAVA_UUID.hash_code, java.JAVA_UUID.order)
"""Kafka's own `Uuid`, which has the hash code and, as of Kafka 4.0, the order of Java's."""

KEY_TYPES: Mapping[str, tuple[KeyType[Any], Callable[[Any], Any]]] = MappingProxyType(
    {
        "string": (java.STRING, str),
        "int": (java.INTEGER, int),
        "topic_partition": (java.TOPIC_PARTITION, tuple),
        "kafka_uuid": (KAFKA_UUID, kafka_uuid),
        "java_uuid": (java.JAVA_UUID, java_uuid),
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


def _java_hash_order_compute(given: Mapping[str, Any]) -> Any:
    key_type, parse = KEY_TYPES[given["key_type"]]
    keys = [parse(key) for key in given["keys"]]
    hash_map: JavaHashMap[Any, int] = JavaHashMap(key_type, initial_capacity=given["initial_capacity"])
    for index, (key, how) in enumerate(zip(keys, given["how"], strict=True)):
        if how == "put":
            hash_map.setdefault(key, index)
        else:
            hash_map.compute_if_absent(key, partial(int, index))
    for index in given.get("remove_indices") or ():
        hash_map.pop(keys[index], None)
    return {"hash_codes": [key_type.hash_code(key) for key in keys], "iteration_order": list(hash_map.values())}


ANSWERS = {
    "java_random": _java_random,
    "java_hash_order": _java_hash_order,
    "java_hash_order_compute": _java_hash_order_compute,
}
