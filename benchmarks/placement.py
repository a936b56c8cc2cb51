"""A million partitions placed, beside copying the array that comes out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic, Placement
from app.core.replicas.registry import PLACEMENTS
from benchmarks.clusters import RACKS, brokers
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


def run() -> Iterator[Result]:
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


def _place(algorithm: str, on: tuple[Broker, ...], topic: NewTopic) -> Placement:
    return PLACEMENTS[algorithm].place(on, topic, random=JavaRandom(SEED))
