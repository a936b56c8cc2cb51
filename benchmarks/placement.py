"""A million partitions placed, beside copying the array that comes out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic, Placement
from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.rules import Policy, Rules
from app.core.replicas.registry import PLACEMENTS
from benchmarks.clusters import DOMAINS, RACKS, brokers, brokers_with_domains
from benchmarks.measure import Floor, Result, interleaved

PARTITIONS = 1_000_000
FACTOR = 3
BROKERS = (12, 60, 300)
RUNS = 25
SEED = 42


@dataclass(frozen=True, slots=True)
class Aim:
    """What an algorithm is to be compared with: the target, and what Kafka's own code needs in a warm JVM."""

    target_ms: float
    kafka_jvm_ms: Mapping[str, str]
    """By how the racks are; the worst of the three sizes, or the range over all."""


AIMS: Mapping[str, Aim] = MappingProxyType(
    {
        "admin_utils": Aim(10, {"none": "39", "even": "189", "uneven": "473"}),
        "striped": Aim(20, dict.fromkeys(RACKS, "80-112")),
    }
)


AWARE_BROKERS = 300
AWARE_TARGET_MS = 100


def run() -> Iterator[Result]:
    """Kafka's algorithms over racks, then awareness over three attributes."""
    yield from _over_racks()
    yield from _over_attributes()


def _over_racks() -> Iterator[Result]:
    """Each algorithm over each number of brokers, with racks of each kind."""
    topic = NewTopic("events", PARTITIONS, FACTOR)
    for algorithm, aim in AIMS.items():
        cases = [(count, racks) for count in BROKERS for racks in RACKS]
        calls: dict[tuple[str, int, str], Callable[[], object]] = {}
        for count, racks in cases:
            place = partial(_place, algorithm, brokers(count, racks=racks), topic)
            rows = place().replicas
            assert rows.shape == (PARTITIONS, FACTOR)
            calls["place", count, racks] = place
            calls["copy", count, racks] = rows.copy
        times = interleaved(calls, runs=RUNS)
        for count, racks in cases:
            yield Result(
                name="place",
                parameters={
                    "algorithm": algorithm,
                    "brokers": count,
                    "racks": racks,
                    "partitions": PARTITIONS,
                    "replication_factor": FACTOR,
                },
                times=times["place", count, racks],
                floor=Floor("copying the result", times["copy", count, racks]),
                target_ms=aim.target_ms,
                facts={"kafka_warm_jvm_ms": aim.kafka_jvm_ms[racks]},
            )


def _over_attributes() -> Iterator[Result]:
    """Each policy over 300 brokers, with attributes that lie within each other and with attributes that cross."""
    topic = NewTopic("events", PARTITIONS, FACTOR)
    cases = [(policy, domains) for policy in Policy for domains in DOMAINS]
    calls: dict[tuple[str, Policy, str], Callable[[], object]] = {}
    for policy, domains in cases:
        on = brokers_with_domains(AWARE_BROKERS, domains=domains)
        forced = {"region": ("region-0", "region-1", "region-2", "region-3")} if policy is Policy.FORCED else {}
        follow = Aware(Rules(policy, ("region", "zone", "rack"), forced))
        place = partial(_follow, follow, on, topic)
        calls["place", policy, domains] = place
        calls["copy", policy, domains] = place().replicas.copy
    times = interleaved(calls, runs=RUNS)
    for policy, domains in cases:
        yield Result(
            name="place",
            parameters={
                "algorithm": "awareness",
                "policy": policy.value,
                "brokers": AWARE_BROKERS,
                "attributes": 3,
                "domains": domains,
                "partitions": PARTITIONS,
                "replication_factor": FACTOR,
            },
            times=times["place", policy, domains],
            floor=Floor("copying the result", times["copy", policy, domains]),
            target_ms=AWARE_TARGET_MS,
        )


def _follow(follow: Aware, on: tuple[Broker, ...], topic: NewTopic) -> Placement:
    return follow(on, topic, random=JavaRandom(SEED))


def _place(algorithm: str, on: tuple[Broker, ...], topic: NewTopic) -> Placement:
    return PLACEMENTS[algorithm].place(on, topic, random=JavaRandom(SEED))
