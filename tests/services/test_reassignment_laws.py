"""Laws of every plan of a reassignment, whatever the cluster and the change; without a solver."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, reject

from app.core.model import UNKNOWN_SIZE, Broker, Cluster, Cordon, Topic, padded, unpadded
from app.core.replicas.options import RackMode
from app.errors import Failure
from app.errors.kafka import InvalidReplicationFactor
from app.errors.reassignments import NotFeasible, SizesMissing
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import (
    PLANNER,
    READER,
    BalanceRequest,
    BatchesRequest,
    EvacuateRequest,
    IsolateRequest,
    PinRequest,
    ReassignmentRequest,
    Tolerance,
    batches_of,
)
from app.store.records import NewPlan
from tests import draws as st
from tests.premises import reaches
from tests.profiles import costly, examples

Rows = Mapping[tuple[str, int], list[int]]


def _topic(name: str, ids: Sequence[int], replicas: Sequence[Sequence[int]], sizes: Sequence[int]) -> Topic:
    lists = padded(replicas)
    no_ids = np.empty((len(ids), 0), np.int32)
    return Topic(
        name, np.array(ids, np.int32), lists, lists[:, 0].copy(), lists, no_ids, no_ids, np.array(sizes, np.int64)
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Small ones: racks of unequal size, brokers that are fenced, down or cordoned, mixed factors, ids with gaps."""
    count = draw(st.integers(3, 7))
    racks = draw(st.integers(1, 3))
    brokers = [
        Broker(10 + i, f"r{draw(st.integers(0, racks - 1)) if i >= racks else i}", fenced=draw(st.integers(0, 9)) == 0)
        for i in range(count)
    ]
    ids = [broker.id for broker in brokers] + [99] * draw(st.booleans())
    topics = []
    for name in ("a", "b")[: draw(st.integers(1, 2))]:
        partitions = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True).map(sorted))
        if draw(st.booleans()):
            partitions = list(range(len(partitions)))
        replicas = [draw(st.permutations(ids))[: draw(st.integers(1, 3))] for _ in partitions]
        sizes = [draw(st.sampled_from([0, 1, 7, 1000] + [UNKNOWN_SIZE] * (name == "b"))) for _ in partitions]
        topics.append(_topic(name, partitions, replicas, sizes))
    cordoned = draw(st.lists(st.sampled_from([broker.id for broker in brokers]), max_size=2, unique=True))
    cordons = {broker: Cordon(is_whole=draw(st.integers(0, 3)) > 0) for broker in cordoned}
    return Cluster("c", tuple(brokers), tuple(topics), cordons=cordons)


@st.composite
def changes(draw: st.DrawFn, cluster: Cluster) -> ReassignmentRequest:
    """Several changes together; infeasible demands are relaxed, so that most of them have a plan."""
    ids = [broker.id for broker in cluster.brokers]
    removed = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True))
    replaced = draw(st.lists(st.sampled_from([broker for broker in ids if broker not in removed]), max_size=1))
    evenness: st.SearchStrategy[Any] = st.sampled_from(["tight", "keep", Tolerance(0.25), None])
    leaders: st.SearchStrategy[Any] = evenness | st.just("moved")
    return ReassignmentRequest(
        add_brokers=[Broker(50, "r0")] * draw(st.integers(0, 1)),
        remove_brokers=removed,
        replace_brokers=dict.fromkeys(replaced, 60),
        replication_factor={"a": draw(st.integers(1, 4))} if draw(st.booleans()) else {},
        fix_offline_replicas=draw(st.booleans()),
        repair_racks=draw(st.sampled_from([None, True, False])),
        rack_mode=draw(st.sampled_from(list(RackMode))),
        evacuate_leaders=EvacuateRequest(brokers=draw(st.lists(st.sampled_from(ids), max_size=1))),
        balance=BalanceRequest(
            draw(evenness),
            draw(st.sampled_from(["count", "bytes", "throughput"])),
            draw(leaders),
            draw(st.sampled_from(["count", "ingress"])),
        ),
        ingress_bytes_per_s=dict.fromkeys((topic.name for topic in cluster.topics), 1000.0),
        minimise=draw(st.sampled_from(["bytes", "replicas"])),
        unknown_sizes=draw(st.sampled_from([None, "estimate"])),
        on_conflict="relax",
        batches=BatchesRequest(max_moves_in_per_broker=draw(st.sampled_from([1, 2, None]))),
    )


@costly(60)
@given(clusters(), st.integers(1, 4))
def test_a_change_of_one_topic_moves_no_other(cluster: Cluster, factor: int) -> None:
    """Partitions of other topics that span too few racks stay, and are counted."""
    made = _planned(cluster, ReassignmentRequest(replication_factor={"a": factor}, on_conflict="relax"))
    before, after = _before(cluster), _after(made)
    assert {name: row for name, row in after.items() if name[0] != "a"} == {
        name: row for name, row in before.items() if name[0] != "a"
    }
    answer: Any = made.answer
    unsafe = [v for v in answer["violations"] if v["code"] == "too_few_racks" and v["topic"] != "a"]
    warned = [w["detail"] for w in answer["warnings"] if w["code"] == "racks_not_repaired"]
    counts = [int(detail.split()[0]) for detail in warned]
    assert sum(counts) == sum(violation["count"] for violation in unsafe)


CASES = clusters().flatmap(lambda cluster: st.tuples(st.just(cluster), changes(cluster)))


def _before(cluster: Cluster) -> Rows:
    return {
        (topic.name, partition): row
        for topic in cluster.topics
        for partition, row in zip(topic.partition_ids.tolist(), unpadded(topic.replicas), strict=True)
    }


def _after(made: NewPlan) -> Rows:
    return {
        (placement.topic, placement.first_partition_id + at): row
        for placement in made.placements
        for at, row in enumerate(unpadded(placement.replicas))
    }


def _planned(cluster: Cluster, request: ReassignmentRequest) -> NewPlan:
    """The plan; None if no broker may have a partition, or bytes are to be balanced and are unknown."""
    try:
        return draft_plan(PLANNER, request, cluster, Limits())
    except (InvalidReplicationFactor, NotFeasible, SizesMissing):
        reject()


@costly(150)
@given(CASES)
def test_every_partition_is_where_it_may_be(case: tuple[Cluster, ReassignmentRequest]) -> None:
    cluster, request = case
    made = _planned(cluster, request)
    before, after = _before(cluster), _after(made)
    assert after.keys() == before.keys()
    gone = {*request.remove_brokers, *request.replace_brokers}
    offline = {broker.id for broker in cluster.brokers if broker.fenced} | {99}
    cordoned = {broker for broker, cordon in cluster.cordons.items() if cordon.is_whole}
    relaxed: Any = made.answer["relaxed"]
    lowered = "replication_factor" in {each["constraint"] for each in relaxed}
    for key, row in after.items():
        assert len(set(row)) == len(row)
        assert not set(row) & gone
        assert not (set(row) - set(before[key])) & (offline | cordoned)
        if request.fix_offline_replicas:
            assert not set(row) & offline
        wanted = request.replication_factor.get(key[0], len(before[key]))
        assert len(row) == wanted or (lowered and len(row) < wanted)


@costly(100)
@given(CASES)
def test_the_certificate_states_the_difference_of_before_and_after(case: tuple[Cluster, ReassignmentRequest]) -> None:
    cluster, request = case
    made = _planned(cluster, request)
    before, after = _before(cluster), _after(made)
    size_of = {
        (topic.name, partition): size
        for topic in cluster.topics
        for partition, size in zip(topic.partition_ids.tolist(), topic.size_bytes.tolist(), strict=True)
    }
    moved = Counter({key: len(set(row) - set(before[key])) for key, row in after.items()})
    certificate: Any = made.answer["certificate"]
    assert certificate["moved_replicas"] == moved.total()
    if request.unknown_sizes is None:
        assert certificate["moved_bytes"] == sum(n * max(size_of[key], 0) for key, n in moved.items())
        assert certificate["unknown_size_replicas"] == sum(n for key, n in moved.items() if size_of[key] < 0)
    assert 0 <= certificate["lower_bound_bytes"] <= certificate["moved_bytes"]
    assert certificate["optimal"] == (certificate["gap"] == 0)
    if certificate["optimal"] and certificate["minimised"] == "bytes":
        assert certificate["lower_bound_bytes"] == certificate["moved_bytes"]
    movement: Any = made.answer["movement"]
    assert sum(row["replicas_in"] for row in movement) == moved.total()
    counts = Counter(broker for row in after.values() for broker in row)
    assert {row["broker"]: row["replicas_after"] for row in movement if row["replicas_after"]} == counts
    assert all(
        row["replicas_before"] + row["replicas_in"] - row["replicas_out"] == row["replicas_after"] for row in movement
    )
    assert made.answer["leader_changes"] == sum(row[0] != before[key][0] for key, row in after.items())


@costly(60)
@given(clusters(), st.sampled_from(["keep", "moved", None]))
def test_leaders_of_partitions_that_stay_do_not_change(cluster: Cluster, leaders: Any) -> None:
    """With `keep` no leader changes that could stay, with `moved` none of a partition that keeps its replicas; then no
    broker leads more than the largest does with `keep`. A leader that is down stays if its partition does.
    """
    down = {broker.id for broker in cluster.brokers if broker.fenced} | {99}
    request = ReassignmentRequest(
        remove_brokers=[cluster.brokers[0].id], balance=BalanceRequest(leaders=leaders), on_conflict="relax"
    )
    made = _planned(cluster, request)
    before, after = _before(cluster), _after(made)
    for key, row in after.items():
        is_up = before[key][0] not in down or set(row) <= down
        could_stay = (leaders == "keep" and before[key][0] in row and is_up) or set(row) == set(before[key])
        assert row[0] == before[key][0] or not could_stay
    least = draft_plan(PLANNER, replace(request, balance=BalanceRequest(leaders="keep")), cluster, Limits())
    with_keep, moved = (max(Counter(row[0] for row in rows.values()).values()) for rows in (_after(least), after))
    assert moved <= with_keep


@examples(60)
@given(clusters(), st.lists(st.sampled_from(["r0", "r1", "r2"]), min_size=1, unique=True), st.data())
def test_leaders_are_in_the_first_rack_that_has_a_replica(
    cluster: Cluster, racks: list[str], data: st.DataObject
) -> None:
    """Of a broker that is up; topic b has a list of its own, which precedes the list of all topics."""
    rack_of = {broker.id: str(broker.rack) for broker in cluster.brokers if not broker.fenced}
    listed = [rack for rack in racks if rack in {broker.rack for broker in cluster.brokers}]
    leaders: Any = data.draw(st.sampled_from(["keep", "tight", "moved", Tolerance(0.5)]))
    preferred = {"*": listed, "b": listed[::-1]} if len(cluster.topics) > 1 else {"*": listed}
    request = ReassignmentRequest(
        preferred_racks=preferred, balance=BalanceRequest(leaders=leaders), repair_racks=False, on_conflict="relax"
    )
    made = _planned(cluster, request)
    firsts = 0
    for (topic, _), row in _after(made).items():
        order = preferred.get(topic, listed)
        ranks = [order.index(rack_of[broker]) if rack_of[broker] in order else 9 for broker in row if broker in rack_of]
        if ranks:
            led = rack_of[row[0]]
            assert (order.index(led) if led in order else 9) == min(ranks)
            firsts += min(ranks) == 0
    answer: Any = made.answer
    assert answer["balance"]["leaders"]["preferred_racks"]["first"] >= firsts


@costly(60)
@given(clusters(), st.integers(1, 2), st.sampled_from(["keep", "tight", "moved"]))
def test_brokers_lead_their_minimum_of_a_topic(cluster: Cluster, least: int, leaders: Any) -> None:
    """Or the plan names missing input."""
    request = ReassignmentRequest(
        min_leaders_per_broker={"a": least}, balance=BalanceRequest(leaders=leaders), on_conflict="relax"
    )
    made = _planned(cluster, request)
    led = Counter(row[0] for (topic, _), row in _after(made).items() if topic == "a")
    relaxed: Any = made.answer["relaxed"]
    is_short = any(led[broker.id] < least for broker in cluster.brokers if not broker.fenced)
    assert is_short == any(each["constraint"] == "min_leaders_per_broker" for each in relaxed)


@costly(100)
@given(CASES)
def test_the_batches_lead_there_and_back(case: tuple[Cluster, ReassignmentRequest]) -> None:
    """Each step starts from where the one before left the partition, within the limit on every broker."""
    cluster, request = case
    made = _planned(cluster, request)
    now, steps = dict(_before(cluster)), batches_of(made)
    limit = request.batches.max_moves_in_per_broker
    batches: Any = made.answer["batches"]
    for number in range(len(steps)):
        coming: Counter[int] = Counter()
        inverse = {(topic, partition): row for topic, partition, row in steps.listed(number, is_inverse=True)}
        for topic, partition, row in steps.listed(number):
            key = (topic, partition)
            assert inverse[key] == now[key]
            coming.update(set(row) - set(now[key]))
            now[key] = row
        assert limit is None or max(coming.values(), default=0) <= limit
        assert batches[number]["moves_data"] or not coming
    assert now == _after(made)
    for one in steps.at_once(is_inverse=True):
        now[one.topic, one.partition] = list(one.replicas)
    assert now == _before(cluster)


@reaches("lifted", 0.05)
@costly()
@given(CASES, st.sampled_from(["4.2", "4.3.1", "4.3.2", "4.4"]))
def test_kafka_accepts_every_file_of_a_plan(case: tuple[Cluster, ReassignmentRequest], version: str) -> None:
    """Batches, rollbacks and the files of the whole plan, executed list by list under the cordons of the moment."""
    cluster, request = case
    made = _planned(cluster, replace(request, kafka_version=version))
    execution: Any = made.answer["execution"]
    at_first = {broker for broker, cordon in cluster.cordons.items() if cordon.is_whole}
    if execution is None:
        removed = {*request.remove_brokers, *request.replace_brokers}
        assert version == "4.2" or not at_first | removed - {b.id for b in cluster.brokers if b.fenced}
        return
    steps, before, after = batches_of(made), _before(cluster), _after(made)
    requested = [[row for *_, row in steps.listed(number)] for number in range(len(steps))]
    inverse = [[row for *_, row in steps.listed(number, is_inverse=True)] for number in range(len(steps))]
    changed = [key for key, row in after.items() if row != before[key]]
    files = {
        "batches": requested,
        "rollback": inverse,
        "at_once": [[after[key] for key in changed]],
        "rollback_at_once": [[before[key] for key in changed]],
    }
    for name in ("batches", "at_once"):
        cordoned = set(at_first)
        for each in (name, "rollback" if name == "batches" else "rollback_at_once"):
            for step in execution[each]:
                if step["action"] == "execute":
                    lists = files[each][step["batch"] - 1]
                    assert version == "4.3.1" or not any(cordoned & set(row) for row in lists)
                elif step["action"] == "cordon":
                    assert not cordoned & set(step["brokers"])
                    cordoned |= set(step["brokers"])
                else:
                    event("lifted")
                    assert cordoned >= set(step["brokers"])
                    cordoned -= set(step["brokers"])
        assert cordoned == at_first


@costly(50)
@given(CASES)
def test_a_plan_that_was_carried_out_leaves_nothing_to_do(case: tuple[Cluster, ReassignmentRequest]) -> None:
    """With `keep` nothing moves that has not to: requested again, once it is done, the same change moves nothing."""
    cluster, request = case
    request = replace(request, balance=BalanceRequest("keep", leaders="keep"), replace_brokers={}, add_brokers=())
    after = _after(_planned(cluster, request))
    done = tuple(
        _topic(
            topic.name,
            topic.partition_ids.tolist(),
            [after[topic.name, partition] for partition in topic.partition_ids.tolist()],
            topic.size_bytes.tolist(),
        )
        for topic in cluster.topics
    )
    certificate: Any = _planned(replace(cluster, topics=done), request).answer["certificate"]
    assert certificate["moved_replicas"] == 0


@costly(50)
@given(CASES)
def test_a_job_plans_the_request(case: tuple[Cluster, ReassignmentRequest]) -> None:
    """The stored requests of the job and of the plan read as the same request."""
    cluster, request = case
    made = _planned(cluster, request)
    assert draft_plan(PLANNER, PLANNER.restored(PLANNER.stored(request)), cluster, Limits()).hash == made.hash
    again = (
        draft_plan(PLANNER, PLANNER.restored(made.request), cluster, Limits()) if not request.replace_brokers else made
    )
    assert again.hash == made.hash


@st.composite
def any_changes(draw: st.DrawFn, cluster: Cluster) -> ReassignmentRequest:
    """Fields that the other changes leave out, together with them, and not relaxed always."""
    request = draw(changes(cluster))
    ids = [broker.id for broker in cluster.brokers]
    names = [topic.name for topic in cluster.topics]
    some = st.lists(st.sampled_from(ids), min_size=1, max_size=4, unique=True)
    pinned = draw(st.sampled_from(cluster.topics))
    is_counted = request.balance.replicas_by == "count"
    return replace(
        request,
        replication_factor={} if draw(st.booleans()) else request.replication_factor,
        partitions={"a": draw(st.integers(1, 8))} if draw(st.booleans()) else {},
        topics=draw(st.none() | st.lists(st.sampled_from(names), unique=True)),
        forbid_brokers=draw(some) if draw(st.booleans()) else (),
        receivers=draw(some) if draw(st.integers(0, 3)) == 0 else None,
        isolate=[IsolateRequest([draw(st.sampled_from(names))], draw(some), draw(st.booleans()))]
        * draw(st.integers(0, 1)),
        pins=[PinRequest(pinned.name, int(pinned.partition_ids[0]), draw(some))] * draw(st.integers(0, 1)),
        max_replicas_per_rack=draw(st.none() | st.integers(1, 2)),
        max_moved_bytes=draw(st.none() | st.integers(0, 3000)) if is_counted else None,
        trade_off=is_counted and draw(st.booleans()),
        on_conflict=draw(st.sampled_from(["refuse", "relax"])),
        deadline_s=draw(st.sampled_from([None, 1e-9])),
    )


@pytest.mark.long
@reaches("planned", 0.07)
@examples(150)
@given(clusters().flatmap(lambda cluster: st.tuples(st.just(cluster), any_changes(cluster))))
def test_any_change_has_a_plan_or_a_problem(case: tuple[Cluster, ReassignmentRequest]) -> None:
    """A plan that Rackplan's own verifiers fault is an error, as is a solver that misses an existing solution."""
    cluster, request = case
    try:
        made = draft_plan(PLANNER, request, cluster, Limits())
    except Failure:
        return
    event("planned")
    before, after = _before(cluster), _after(made)
    cordoned = {broker for broker, cordon in cluster.cordons.items() if cordon.is_whole}
    relaxed: Any = made.answer["relaxed"]
    given_up = {each["constraint"] for each in relaxed}
    for pin in request.pins:
        assert after[pin.topic, pin.partition] == list(pin.replicas) or "pins" in given_up
    for key, row in after.items():
        received = set(row) - set(before.get(key, ()))
        assert not received & (set(request.forbid_brokers) | cordoned)
        if request.receivers is not None and not request.pins:
            assert received <= {*request.receivers, *request.replace_brokers.values()} or "receivers" in given_up
        for isolated in request.isolate:
            assert key[0] not in isolated.topics or set(row) <= set(isolated.brokers) or request.pins
            assert key[0] in isolated.topics or not isolated.exclusive or not set(row) & set(isolated.brokers)
    certificate: Any = made.answer["certificate"]
    if request.max_moved_bytes is not None and "max_moved_bytes" not in given_up:
        assert certificate["moved_bytes"] <= request.max_moved_bytes


def test_a_lower_factor_is_of_the_partitions_without_room_alone() -> None:
    """Broker 11 is left; the partition of `a` may also keep its replica on 99, which is down."""
    brokers = (Broker(10, "r0"), Broker(11, "r1"), Broker(12, "r0"))
    cluster = Cluster(
        "c", brokers, (_topic("a", [0], [[10, 12, 99]], [0]), _topic("b", [0, 1], [[10], [10, 11]], [0, 0]))
    )
    request = ReassignmentRequest(
        remove_brokers=[10, 12], replication_factor={"a": 2}, repair_racks=True, on_conflict="relax"
    )
    made = _planned(cluster, request)
    assert _after(made) == {("a", 0): [11, 99], ("b", 0): [11], ("b", 1): [11]}
    relaxed: Any = made.answer["relaxed"]
    assert [each["constraint"] for each in relaxed] == ["replication_factor"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"objective": {"goals": [{"goal": "replicas", "tolerance": 0.1}]}},
        {"balance": {"leaders": "tight", "leaders_move_replicas": True}},
        {"balance": {"replicas": "tight"}, "copysets": "no_new"},
    ],
)
def test_a_cluster_without_brokers_and_topics_needs_no_change(body: Mapping[str, Any]) -> None:
    made = draft_plan(PLANNER, READER.validate_python(body), Cluster("c", ()), Limits())
    assert (made.answer["warnings"], made.placements) == ([], [])
