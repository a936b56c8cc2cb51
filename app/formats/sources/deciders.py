"""What decides in place of Kafka's own code, or undoes a plan, as far as a source shows it.

Classes of assignors other than Kafka's own, which may have the names of these; Confluent's self-balancing, which moves
replicas by itself and ignores cordons; the brokers of MSK Express, whose rebalancing rejects other reassignments; and
the automatic rebalancing of Strimzi, which runs when brokers are added or removed.

Source: KIP-848, KIP-1357; the documentation of Confluent Server, of Amazon MSK and of Strimzi.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from app.formats.clusters.stated_configs import ASSIGNORS, BALANCER
from app.formats.sources.contents import Note, noted
from app.formats.syntax.lines import shown

CODE = "others_decide"
_OWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "group.consumer.assignors": ("uniform", "range", "UniformAssignor", "RangeAssignor"),
        "group.streams.assignors": ("sticky", "StickyTaskAssignor"),
    }
)
"""By configuration, Kafka's own assignors: their names, and their classes without the package."""
_PACKAGE = "org.apache.kafka.coordinator.group."
EXPRESS = noted("deciders express")
AUTO_REBALANCE = noted("deciders auto rebalance")
_SELF_BALANCING = noted("deciders self balancing")


def of_configs(stated: Iterable[tuple[str, str]]) -> Iterator[Note]:
    """What configurations of brokers, pairs of name and value, show."""
    for name, value in sorted(set(stated)):
        if name == BALANCER and value == "true":
            yield _SELF_BALANCING
        elif name in ASSIGNORS:
            others = [each for each in (one.strip() for one in value.split(",")) if each and not _is_own(name, each)]
            if others:
                yield Note(
                    CODE,
                    f"{name} has {', '.join(map(shown, others[:5]))}: such a class decides in place of Kafka's own, "
                    "whose name it may have; what is predicted for groups that use it may not hold",
                )


def _is_own(config: str, assignor: str) -> bool:
    name = assignor.rpartition(".")[2] if assignor.startswith(_PACKAGE) else assignor
    is_class = assignor.startswith(_PACKAGE)
    return name in _OWN[config] and is_class == name[0].isupper()
