"""The measured cases' inputs, each read for its algorithm: what the conformance run feeds to the core.

placement.py       replica placers and the tool that proposes a reassignment
groups.py          assignors of consumer groups and share groups, of the client and of the coordinator
protocol.py        the bytes of the consumer protocol
keys.py            hashes of keys
streams.py         assignors of Kafka Streams' client
streams_groups.py  the coordinator's assignor of streams groups, by release
jvm.py             java.util.Random and the orders of Java's collections
refusals.py        a refusal as the vectors write it
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from app.core.kafka_versions import MEASURED, KafkaRange
from app.services.vectors import groups, jvm, keys, placement, protocol, streams, streams_groups

Answer = Callable[[Mapping[str, Any]], Any]
Invariants = Callable[[Mapping[str, Any], Any, Any], bool]

ANSWERS: Mapping[str, Answer] = MappingProxyType(
    {
        name: answer
        for reader in (placement, groups, protocol, keys, streams, streams_groups, jvm)
        for name, answer in reader.ANSWERS.items()
    }
)
"""Every implemented algorithm by the name of its vector file; given a case's input, what the core says to it."""

INVARIANTS: Mapping[str, Invariants] = streams_groups.INVARIANTS
"""Given the input, the measured and our answer: whether ours is as good, if Kafka's differs from run to run."""

_RELEASES = {
    "admin_utils": KafkaRange("4.0.0", "4.0"),
    "admin_utils_overflow": KafkaRange("4.0.0", "4.0"),
    "rack_alternated": KafkaRange("4.0.0", "4.0"),
    "builtin_partitioner_4_4": KafkaRange("4.4", "4.4"),
    "generate_4_1": KafkaRange("4.1", "4.4"),
    "server_simple": KafkaRange("4.0.0", "4.0"),
    "server_simple_4_1": KafkaRange("4.1", "4.1"),
    "server_simple_4_2": KafkaRange("4.2", "4.4"),
    "server_uniform": KafkaRange("4.0.0", "4.0.0"),
    "server_uniform_4_0_1": KafkaRange("4.0.1", "4.4"),
    "streams_group_sticky_4_1": KafkaRange("4.1", "4.1"),
    "streams_group_sticky_4_2": KafkaRange("4.2", "4.3"),
    "streams_group_sticky_4_4": KafkaRange("4.4", "4.4"),
    "striped_placer": KafkaRange("4.0.0", "4.2"),
    "striped_placer_4_3": KafkaRange("4.3", "4.4"),
    "topic_hash_4_1": KafkaRange("4.1", "4.4"),
}

HOLDS: Mapping[str, KafkaRange] = MappingProxyType(
    {name: _RELEASES.get(name, MEASURED) for name in ANSWERS if not name.startswith("java_")}
)
"""The releases of Kafka that answer a vector file's cases as it says."""
