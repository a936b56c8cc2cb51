"""The measured cases' inputs, each read for its algorithm: what the conformance run feeds to the core.

placement.py   admin_utils, rack_alternated, striped_placer
groups.py      consumer_range, consumer_roundrobin, consumer_sticky, consumer_cooperative_sticky,
               server_range, server_uniform, server_uniform_4_0_1,
               server_simple
protocol.py    consumer_protocol
keys.py        murmur2
streams.py     streams_high_availability, streams_sticky, streams_standby, streams_rack_aware
jvm.py         java_random, java_hash_order, java_hash_order_compute
refusals.py    a refusal as the vectors write it
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from app.services.vectors import groups, jvm, keys, placement, protocol, streams

Answer = Callable[[Mapping[str, Any]], Any]

ANSWERS: Mapping[str, Answer] = MappingProxyType(
    {
        name: answer
        for reader in (placement, groups, protocol, keys, streams, jvm)
        for name, answer in reader.ANSWERS.items()
    }
)
"""Every implemented algorithm by the name of its vector file; given a case's input, what the core says to it."""
