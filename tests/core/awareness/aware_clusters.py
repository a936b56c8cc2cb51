"""Small clusters whose attributes nest or cross, and the measures of a row on them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic, Placement
from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.rules import Rules
from tests import draws as st

SEEDS = st.integers(-(2**63), 2**63 - 1)
WEIGHTS = st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.0])


@st.composite
def nested(draw: st.DrawFn, most: int = 9) -> tuple[list[Broker], tuple[str, ...]]:
    """Brokers whose racks lie in zones and zones in regions."""
    brokers = []
    for broker in range(draw(st.integers(1, most))):
        region, zone, rack = draw(st.integers(0, 2)), draw(st.integers(0, 2)), draw(st.integers(0, 1))
        attributes = {"region": f"{region}", "zone": f"{region}-{zone}", "rack": f"{region}-{zone}-{rack}"}
        brokers.append(Broker(broker * 7 % 11, attributes=attributes, weight=draw(WEIGHTS)))
    return brokers, draw(st.sampled_from([("region",), ("zone",), ("region", "zone"), ("region", "zone", "rack")]))


@st.composite
def crossed(draw: st.DrawFn, most: int = 8) -> tuple[list[Broker], tuple[str, ...]]:
    """Brokers whose attributes have nothing to do with each other."""
    names = ("cluster", "zone", "power")[: draw(st.integers(2, 3))]
    return [
        Broker(broker, attributes={name: f"{draw(st.integers(0, 2))}" for name in names}, weight=draw(WEIGHTS))
        for broker in range(draw(st.integers(1, most)))
    ], names


clusters = st.one_of(nested(), crossed())


def values(row: Sequence[int], brokers: Sequence[Broker], attribute: str) -> Counter[str | None]:
    by_id = {broker.id: broker for broker in brokers}
    return Counter(by_id[broker].value(attribute) for broker in row)


def spread_of(row: Sequence[int], brokers: Sequence[Broker], attributes: Sequence[str]) -> tuple[int, ...]:
    """How uneven a row is over each attribute in turn: the sum of squares, which evenness alone makes small."""
    return tuple(sum(count**2 for count in values(row, brokers, name).values()) for name in attributes)


def every_row(brokers: Sequence[Broker], factor: int) -> Iterator[tuple[int, ...]]:
    return combinations([broker.id for broker in brokers], factor)


def place(
    brokers: Sequence[Broker], rules: Rules, *, partitions: int = 12, factor: int = 3, seed: int = 1
) -> Placement:
    return Aware(rules)(brokers, NewTopic("t", partitions, factor), random=JavaRandom(seed))
