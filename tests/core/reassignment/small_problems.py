"""Small problems of reassignment, every legal placement of which can be looked at."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import Domain, MovementProblem
from tests import draws as st

LARGE = (1 << 53) - 1


@st.composite
def problems(draw: st.DrawFn) -> tuple[MovementProblem, Int64s, Int64s]:
    """A problem, the load of each row's replicas and the load of other partitions on each broker.

    Up to five brokers in up to three racks, up to four partitions in up to two domains: brokers leave and arrive,
    factors change, current brokers receive copies or have to stay, partitions are new. Each row has some legal set.
    """
    brokers = draw(st.integers(2, 5))
    rack_of = np.array(draw(st.lists(st.integers(0, 2), min_size=brokers, max_size=brokers)), np.int32)
    racks = int(rack_of.max()) + 1
    target = np.array(draw(st.lists(st.sampled_from([True, True, True, False]), min_size=brokers, max_size=brokers)))
    domains = tuple(draw(_domains(rack_of, racks)) for _ in range(draw(st.integers(1, 2))))
    rows = [draw(_rows(domains, rack_of)) for _ in range(draw(st.integers(1, 4)))]
    width = max(1, *(len(current) for _, current, _, _ in rows))
    problem = MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=rack_of,
        target=target,
        base=np.zeros(brokers, np.int64),
        domains=domains,
        domain_of=np.array([domain for domain, _, _, _ in rows], np.int32),
        current=np.array([[*current, *[NO_REPLICA] * (width - len(current))] for _, current, _, _ in rows], np.int32),
        is_copied=np.array([[*copied, *[False] * (width - len(copied))] for _, _, copied, _ in rows], np.bool_),
        must_keep=np.array([must_keep for _, _, _, must_keep in rows], np.int32),
        weight=np.array(draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows))), np.int64),
    )
    load = problem.weight
    if draw(st.booleans()):
        load = np.array(draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows))), np.int64)
    base = np.array(draw(st.lists(st.integers(0, 5), min_size=brokers, max_size=brokers)), np.int64)
    return problem, load, base


@st.composite
def large_problems(draw: st.DrawFn) -> tuple[MovementProblem, Int64s, Int64s]:
    """A problem whose loads and weights, and their sums, are no floating numbers: small ones, enlarged and blurred."""
    problem, load, base = draw(problems())
    blurs = st.lists(st.integers(0, 3), min_size=len(load), max_size=len(load))
    load = load * LARGE + np.array(draw(blurs), np.int64)
    return replace(problem, weight=problem.weight * LARGE + np.array(draw(blurs), np.int64)), load, base * LARGE


@st.composite
def _domains(draw: st.DrawFn, rack_of: Int32s, racks: int) -> Domain:
    brokers = len(rack_of)
    may_receive = np.array(draw(st.lists(st.booleans(), min_size=brokers, max_size=brokers)))
    may_receive[draw(st.integers(0, brokers - 1))] = True
    may_keep = may_receive | np.array(draw(st.lists(st.booleans(), min_size=brokers, max_size=brokers)))
    factor = draw(st.integers(1, min(3, int(may_receive.sum()))))
    receivers = np.bincount(rack_of[may_receive], minlength=racks)
    # Some set of receivers is taken for an example, so that the limits leave at least one.
    example = draw(st.permutations(np.flatnonzero(may_receive).tolist()))[:factor]
    counts = np.bincount(rack_of[example], minlength=racks)
    least = np.array([draw(st.integers(0, int(count))) for count in counts], np.int64)
    ranges = zip(counts.tolist(), receivers.tolist(), strict=True)
    most = np.array([draw(st.integers(count, there)) for count, there in ranges], np.int64)
    return Domain(factor, may_keep, may_receive, least, most)


@st.composite
def _rows(draw: st.DrawFn, domains: tuple[Domain, ...], rack_of: Int32s) -> tuple[int, list[int], list[bool], int]:
    at = draw(st.integers(0, len(domains) - 1))
    current = draw(st.lists(st.integers(0, len(rack_of) - 1), unique=True, max_size=3))
    copied = [draw(st.sampled_from((False, False, False, True))) for _ in current]
    staying = [broker for broker in current if domains[at].may_keep[broker]]
    must_keep = draw(st.sampled_from([NO_REPLICA, *staying]))
    if not list(legal_sets(domains[at], rack_of, current, must_keep)):
        must_keep = NO_REPLICA
    return at, current, copied, must_keep


def legal_sets(domain: Domain, rack_of: Int32s, current: list[int], must_keep: int) -> Iterator[tuple[int, ...]]:
    """Every set of brokers where the replicas of a partition may be, by the definition."""
    for chosen in combinations(range(len(rack_of)), domain.factor):
        counts = np.bincount(rack_of[list(chosen)], minlength=len(domain.least))
        allowed = all(domain.may_receive[b] or (b in current and domain.may_keep[b]) for b in chosen)
        within = bool((counts >= domain.least).all() and (counts <= domain.most).all())
        if allowed and within and (must_keep == NO_REPLICA or must_keep in chosen):
            yield chosen


def current_brokers(problem: MovementProblem, row: int) -> list[int]:
    """Where the row's replicas are now."""
    return [broker for broker in problem.current[row].tolist() if broker != NO_REPLICA]


def is_moved(problem: MovementProblem, row: int, broker: int) -> bool:
    """Whether a replica of the row has to be copied to be there."""
    places = problem.current[row].tolist()
    return broker not in places or bool(problem.is_copied[row, places.index(broker)])


def moved_weight(problem: MovementProblem, placement: tuple[tuple[int, ...], ...]) -> int:
    """The cost of having the replicas there; new partitions cost nothing."""
    return sum(
        int(problem.weight[row])
        for row, chosen in enumerate(placement)
        for broker in chosen
        if current_brokers(problem, row) and is_moved(problem, row, broker)
    )


def placements(problem: MovementProblem) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every legal placement."""
    return product(
        *(
            list(
                legal_sets(
                    problem.domains[at], problem.rack_of, current_brokers(problem, row), int(problem.must_keep[row])
                )
            )
            for row, at in enumerate(problem.domain_of.tolist())
        )
    )


def target_loads(
    problem: MovementProblem, load: Int64s, base_load: Int64s, placement: tuple[tuple[int, ...], ...]
) -> list[int]:
    """The loads of the target brokers."""
    loads = base_load.tolist()
    for row, chosen in enumerate(placement):
        for broker in chosen:
            loads[broker] += int(load[row])
    return [amount for amount, counts in zip(loads, problem.target.tolist(), strict=True) if counts]
