"""Consumer groups assigned and measured, beside copying the assignment."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import MappingProxyType

from app.core.groups.classic import cooperative_sticky, roundrobin
from app.core.groups.classic import range as range_assignor
from app.core.groups.lifecycle.rebalance import Protocol, rebalance, with_owned
from app.core.groups.measures.locality import handover, locality
from app.core.groups.measures.violations import violations
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum import optimal
from app.core.groups.server import uniform
from benchmarks.consumer_groups import ConsumerGroup, Size, consumer_group, with_topic_ids
from benchmarks.measure import Floor, Result, interleaved

RUNS = 11
COPY = "copying the assignment"
LARGE = Size(topics=1_000, partitions=1_000, members=2_000, subscriptions="equal")
LARGE_UNEQUAL = replace(LARGE, subscriptions="unequal")
SMALL_UNEQUAL = Size(topics=100, partitions=100, members=100, subscriptions="unequal")
MIDDLE_UNEQUAL = Size(topics=300, partitions=100, members=200, subscriptions="unequal")
OPTIMUM = Size(topics=100, partitions=1_000, members=1_000, subscriptions="equal")


def _uniform(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    return uniform.assign(members, {name: len(topic.replicas) for name, topic in metadata.topics.items()})


ASSIGNORS: Mapping[str, Assign] = MappingProxyType(
    {
        "range": range_assignor.assign,
        "roundrobin": roundrobin.assign,
        "cooperative-sticky": cooperative_sticky.assign,
        "uniform": _uniform,
    }
)
UNEVEN = frozenset({"range"})
"""These assign each topic by itself, and the first in line have one partition more of every topic."""


def _fresh(group: ConsumerGroup, _assign: Assign) -> tuple[Member, ...]:
    return group.members


def _one_left(group: ConsumerGroup, assign: Assign) -> tuple[Member, ...]:
    assigned = assign(group.members, group.metadata)
    return with_owned(group.members, group.metadata, assigned, protocol=Protocol.COOPERATIVE)[1:]


STATES: Mapping[str, Callable[[ConsumerGroup, Assign], tuple[Member, ...]]] = MappingProxyType(
    {"fresh": _fresh, "one left": _one_left}
)
"""What the members own.

fresh : nothing. one left : what the same assignor gave them, after which the first member has left.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """An assignor (of `ASSIGNORS`) on a group in a state (of `STATES`), and what it is to be compared with.

    Parameters
    ----------
    kafka_jvm_ms : what Kafka's own code needs in a warm JVM, where that was measured.
    """

    assignor: str
    state: str
    target_ms: float
    kafka_jvm_ms: str | None = None


CLASSIC: Mapping[Size, Sequence[Case]] = MappingProxyType(
    {
        LARGE: (
            Case("range", "fresh", 100, "2050"),
            Case("roundrobin", "fresh", 100),
            Case("cooperative-sticky", "fresh", 500, "25000"),
            Case("cooperative-sticky", "one left", 500, "about 15000"),
        ),
        SMALL_UNEQUAL: (
            Case("cooperative-sticky", "fresh", 100, "5000"),
            Case("cooperative-sticky", "one left", 100, "10800"),
        ),
        MIDDLE_UNEQUAL: (Case("cooperative-sticky", "fresh", 1_000, "64000"),),
    }
)
SERVER: Mapping[Size, Sequence[Case]] = MappingProxyType({LARGE_UNEQUAL: (Case("uniform", "fresh", 300, "590"),)})
OPTIMUM_TARGET_MS = 3_000


def run() -> Iterator[Result]:
    """Kafka's assignors at several sizes, the optimum, and what is said of an assignment."""
    for size, cases in CLASSIC.items():
        yield from _assigned(size, consumer_group(size), cases)
    for size, cases in SERVER.items():
        yield from _assigned(size, with_topic_ids(consumer_group(size)), cases)
    yield from _optimum(OPTIMUM, consumer_group(OPTIMUM))
    yield from _measured(LARGE, consumer_group(LARGE))


def _assigned(size: Size, group: ConsumerGroup, cases: Sequence[Case]) -> Iterator[Result]:
    calls: dict[tuple[str, Case], Callable[[], object]] = {}
    facts = {}
    for case in cases:
        members = STATES[case.state](group, ASSIGNORS[case.assignor])
        rebalanced = rebalance(members, group.metadata, assign=ASSIGNORS[case.assignor], protocol=Protocol.COOPERATIVE)
        assert rebalanced.settled
        _verify(members, group.metadata, rebalanced.assignment, is_even=case.assignor not in UNEVEN)
        calls["assign", case] = partial(ASSIGNORS[case.assignor], members, group.metadata)
        calls["copy", case] = partial(_copy, rebalanced.phases[0].assignment)
        read = locality(members, group.metadata, rebalanced.assignment)
        facts[case] = {"phases": len(rebalanced.phases), "settled_in_rack_share": read.in_rack_share}
    times = interleaved(calls, runs=RUNS)
    for case in cases:
        yield Result(
            name="assign",
            parameters={"assignor": case.assignor, "state": case.state, **size.parameters},
            times=times["assign", case],
            floor=Floor(COPY, times["copy", case]),
            target_ms=case.target_ms,
            facts=facts[case] | ({} if case.kafka_jvm_ms is None else {"kafka_warm_jvm_ms": case.kafka_jvm_ms}),
        )


def _optimum(size: Size, group: ConsumerGroup) -> Iterator[Result]:
    calls: dict[tuple[str, str], Callable[[], object]] = {}
    certificates = {}
    for state, members_in in STATES.items():
        members = members_in(group, optimal.assign)
        found = optimal.optimum(members, group.metadata)
        assert found.certificate.optimal
        _verify(members, group.metadata, found.assignment, is_even=True)
        certificates[state] = found.certificate
        calls["find", state] = partial(optimal.optimum, members, group.metadata)
        calls["copy", state] = partial(_copy, found.assignment)
    times = interleaved(calls, runs=RUNS)
    for state in STATES:
        yield Result(
            name="find the optimum",
            parameters={"state": state, **size.parameters},
            times=times["find", state],
            floor=Floor(COPY, times["copy", state]),
            target_ms=OPTIMUM_TARGET_MS,
            facts=asdict(certificates[state]),
        )


def _measured(size: Size, group: ConsumerGroup) -> Iterator[Result]:
    """What is said of a fresh assignment, and of what changes hands when one member has left."""
    members, metadata = group.members, group.metadata
    before = cooperative_sticky.assign(members, metadata)
    after = cooperative_sticky.assign(STATES["one left"](group, cooperative_sticky.assign), metadata)
    changed = handover(metadata, before, after)
    assert changed.kept + changed.moved + changed.dropped == size.all_partitions
    read = locality(members, metadata, before)
    assert read.in_rack + read.cross_rack == size.all_partitions
    _verify(members, metadata, before, is_even=True)
    calls: dict[str, Callable[[], object]] = {
        "handover": partial(handover, metadata, before, after),
        "locality": partial(locality, members, metadata, before),
        "violations": partial(violations, members, metadata, before),
    }
    times = interleaved(calls | {"copy": partial(_copy, before)}, runs=RUNS)
    for name in calls:
        yield Result(
            name=name,
            parameters={"assignor": "cooperative-sticky", **size.parameters},
            times=times[name],
            floor=Floor(COPY, times["copy"]),
        )


def _verify(members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment, *, is_even: bool) -> None:
    found = violations(members, metadata, assignment)
    assert [violation.code for violation in found] == ([] if is_even else ["imbalance"]), found


def _copy(assignment: GroupAssignment) -> object:
    return assignment.offsets.copy(), assignment.topic_index.copy(), assignment.partitions.copy()
