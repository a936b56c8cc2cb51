"""A million partitions counted and measured, beside copying their assignment."""

from collections.abc import Iterator

from app.core.jvm import JavaRandom
from app.core.measures.placement import PlacementMeasures, measure
from app.core.measures.tally import tally
from app.core.measures.violations import violations
from app.core.model import NewTopic
from app.core.replicas.registry import PLACEMENTS
from benchmarks.clusters import brokers
from benchmarks.measure import Floor, Result, interleaved

PARTITIONS = 1_000_000
FACTOR = 3
BROKERS = 60
RUNS = 25


def run() -> Iterator[Result]:
    """The tally alone, and all that a plan reports."""
    on = brokers(BROKERS, racks="even")
    topic = NewTopic("events", PARTITIONS, FACTOR)
    placed = PLACEMENTS["striped"].place(on, topic, random=JavaRandom(42))
    assignments = {placed.topic: placed.assignment}

    def verify() -> PlacementMeasures:
        counts = tally(assignments, on)
        assert not violations(counts)
        return measure(counts)

    assert verify().partitions == PARTITIONS
    times = interleaved(
        {"tally": lambda: tally(assignments, on), "verify": verify, "copy": placed.replicas.copy}, runs=RUNS
    )
    for name, what in (("tally", "tally"), ("verify", "tally, violations and measures")):
        yield Result(
            name=what,
            parameters={"brokers": BROKERS, "partitions": PARTITIONS, "replication_factor": FACTOR},
            times=times[name],
            floor=Floor("copying the assignment", times["copy"]),
        )
