"""What a controller's draws can come to, beside placing the topic once."""

from collections.abc import Callable, Iterator
from functools import partial

from app.core.jvm import JavaRandom
from app.core.model import NewTopic
from app.core.replicas.registry import PLACEMENTS
from benchmarks.clusters import RACKS, brokers
from benchmarks.measure import Floor, Result, interleaved

BROKERS = 60
FACTOR = 3
PARTITIONS = (48, 1_000, 1_000_000)
RUNS = 7


def run() -> Iterator[Result]:
    """Each algorithm's envelope at 60 brokers, for topics of several sizes, with racks of each kind."""
    envelopes = {name: algorithm.envelope for name, algorithm in PLACEMENTS.items() if algorithm.envelope is not None}
    cases = [(name, partitions, racks) for name in envelopes for partitions in PARTITIONS for racks in RACKS]
    calls: dict[tuple[str, str, int, str], Callable[[], object]] = {}
    methods = {}
    for name, partitions, racks in cases:
        on = brokers(BROKERS, racks=racks)
        topic = NewTopic("events", partitions, FACTOR)
        find = partial(envelopes[name], on, topic)
        methods[name, partitions, racks] = find()
        calls["envelope", name, partitions, racks] = find
        calls["place", name, partitions, racks] = partial(PLACEMENTS[name].place, on, topic, random=JavaRandom(42))
    times = interleaved(calls, runs=RUNS, warm_ups=1)
    for name, partitions, racks in cases:
        found = methods[name, partitions, racks]
        yield Result(
            name="envelope",
            parameters={
                "algorithm": name,
                "brokers": BROKERS,
                "racks": racks,
                "partitions": partitions,
                "replication_factor": FACTOR,
            },
            times=times["envelope", name, partitions, racks],
            floor=Floor("placing the topic once", times["place", name, partitions, racks]),
            facts={"method": found.method, "outcomes": found.outcomes, "seeds": found.seeds},
        )
