"""Compare the algorithms with answers measured from Kafka's own code: `python -m tests.conformance [FOLDER]`.

comparison.py      cases of a folder against the algorithms, and where they differ
placement.py       replica placers and the tool that proposes a reassignment
groups.py          assignors of consumer groups and share groups, of the client and of the coordinator
protocol.py        the bytes of the consumer protocol
keys.py            hashes of keys
streams.py         assignors of Kafka Streams' client
streams_groups.py  the coordinator's assignor of streams groups, by release
jvm.py             java.util.Random and the orders of Java's collections
topic_hash.py      the hash by which the coordinator notices changed metadata
refusals.py        an error as the vectors write it
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from app.core.groups.server import simple, simple_hashed, simple_shared, uniform
from app.core.groups.server.uniform import Remainder
from app.core.kafka_versions import MEASURED, KafkaRange
from app.core.replicas import admin_utils, striped
from app.core.streams.coordinator import sticky_by_load, sticky_by_pairs
from tests.conformance import generate, groups, jvm, keys, placement, protocol, streams, streams_groups, topic_hash

Answer = Callable[[Mapping[str, Any]], Any]
Invariants = Callable[[Mapping[str, Any], Any, Any], bool]

ANSWERS: Mapping[str, Answer] = MappingProxyType(
    {
        name: answer
        for reader in (placement, groups, protocol, keys, streams, streams_groups, jvm)
        for name, answer in reader.ANSWERS.items()
    }
)
"""Every implemented algorithm by the name of its vector file: the input of a case → the answer of the core."""

INVARIANTS: Mapping[str, Invariants] = streams_groups.INVARIANTS
"""Given the input, the measured and our answer: whether ours is as good, if Kafka's differs from run to run."""

_RELEASES = {
    "admin_utils": admin_utils.REPLAYS.holds,
    "admin_utils_overflow": admin_utils.REPLAYS.holds,
    "rack_alternated": admin_utils.REPLAYS.holds,
    "builtin_partitioner_4_4": KafkaRange("4.4", "4.4"),
    "generate_4_1": generate.REPLAYS.holds,
    "server_simple": simple.REPLAYS.holds,
    "server_simple_4_1": simple_hashed.REPLAYS.holds,
    "server_simple_4_2": simple_shared.REPLAYS.holds,
    "server_uniform": uniform.REPLAYS[Remainder.FIRST_MEMBERS].holds,
    "server_uniform_4_0_1": uniform.REPLAYS[Remainder.OWNERS].holds,
    "streams_group_sticky_4_1": sticky_by_pairs.REPLAYS.holds,
    "streams_group_sticky_4_2": sticky_by_load.SINCE_4_2_2.replays.holds,
    "streams_group_sticky_4_3": sticky_by_load.SINCE_4_3.replays.holds,
    "streams_group_sticky_4_4": sticky_by_load.SINCE_4_4.replays.holds,
    "striped_placer": striped.UNTIL_4_2.holds,
    "striped_placer_4_3": striped.SINCE_4_3.holds,
    "topic_hash_4_1": topic_hash.REPLAYS.holds,
}

HOLDS: Mapping[str, KafkaRange] = MappingProxyType(
    {name: _RELEASES.get(name, MEASURED) for name in ANSWERS if not name.startswith("java_")}
)
"""The releases of Kafka whose answers a vector file has."""
