"""The state after every loss: the table of a plan and of a check, against a recomputation without the lost brokers."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from app.core.kafka_versions import NEWEST
from app.core.model import Broker, Cluster, Int32s, Topic, padded
from app.core.replica_lists import widened
from app.errors.reassignments import UnknownBroker, UnknownRack
from app.errors.requests import ConflictingFields, LimitExceeded, NotExportable
from app.services.checks import HealthRequest
from app.services.checks.health import health_of
from app.services.limits import Limits
from app.services.plans import Allowance, FilePart, LossSelection, draft_plan
from app.services.reassignment import PLAN_KIND, PLANNER
from app.services.reassignment.reports.losses import loss_table
from app.services.reassignment.requests.parts import Limit, LimitsRequest
from app.store.records import NewPlan
from tests import draws as st
from tests.profiles import examples
from tests.services.reassignments import topic
from tests.services.test_health import CLUSTER, RATES, health

ALL = LossSelection()
Row = Mapping[str, str]


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Two topics on two to five brokers in up to three racks; some replicas are out of sync, and any other leads."""
    brokers = draw(st.integers(2, 5))
    topics = []
    for name in ("clicks", "orders"):
        lists = draw(
            st.lists(st.lists(st.integers(1, brokers), min_size=1, max_size=3, unique=True), min_size=1, max_size=4)
        )
        made = topic(name, lists, [draw(st.integers(0, 50)) for _ in lists])
        leaders = [draw(st.sampled_from(row)) for row in lists]
        in_sync = [
            [broker for broker in row if broker == leader or draw(st.booleans())]
            for row, leader in zip(lists, leaders, strict=True)
        ]
        least = draw(st.sampled_from([{}, {"min.insync.replicas": "1"}, {"min.insync.replicas": "2"}]))
        topics.append(replace(made, isr=padded(in_sync), leaders=np.array(leaders, np.int32), configs=least))
    listed = tuple(Broker(broker, draw(st.sampled_from("abc"))) for broker in range(1, brokers + 1))
    return Cluster("c", listed, tuple(topics))


@examples(60)
@given(clusters(), st.booleans())
def test_a_loss_leaves_what_the_remaining_brokers_have_without_the_others(cluster: Cluster, nearby: bool) -> None:
    """The lost brokers are taken out of every list, and Kafka elects the first replica that remains and is in sync;
    the loads of these lists are then evaluated as in any placement. Of a partition without a leader nothing is
    received or sent, and its bytes stay.
    """
    rates = {"clicks": 30.0, "orders": 70.0}
    request = HealthRequest(ingress_bytes_per_s=rates, consumers={"*": 2}, follower_fetching=nearby, losses=ALL)
    found = health_of(cluster, request, Allowance(Limits(), is_job=True), NEWEST)
    assert found.losses is not None
    report, resources = found.report, found.report.resources
    rows = widened(padded([_leader_first(*pair) for topic in cluster.topics for pair in _lists(topic)]), 3)
    rows = np.where(rows < 0, rows, rows - 1).astype(np.int32)
    in_sync = [[broker - 1 for broker in row] for topic in cluster.topics for row in topic.isr.tolist()]
    seen = set()
    stored = resources.broker_loads(rows)[:, 0]
    for loss in found.losses.each():
        is_lost = (report.brokers.ids == loss.lost_broker) | np.array(
            [broker.rack is not None and broker.rack == loss.lost_rack for broker in report.brokers.known]
        )
        seen.add((loss.lost_broker, loss.lost_rack))
        left, offline, elected = _left(rows, in_sync, set(np.flatnonzero(is_lost).tolist()))
        expected = resources.broker_loads(left)
        for name, column in zip(found.losses.names, found.losses.columns, strict=True):
            value = loss.loads[:, found.losses.names.index(name)]
            right = stored if name == "disk" else expected[:, column]
            assert np.abs(value - right[~is_lost]).max(initial=0) <= (1 + len(rows) if nearby else 0), name
        assert (loss.offline, loss.elected) == (offline, elected)
        assert (loss.unwritable, loss.at_min_isr) == _writable(cluster, set(report.brokers.ids[is_lost].tolist()))
    assert seen == {(b.id, None) for b in cluster.brokers} | {(None, b.rack) for b in cluster.brokers}


def _lists(topic: Topic) -> Iterator[tuple[list[int], int]]:
    """Each list of replicas, and its leader."""
    return zip(
        ([broker for broker in row if broker >= 0] for row in topic.replicas.tolist()),
        topic.leaders.tolist(),
        strict=True,
    )


def _leader_first(row: list[int], leader: int) -> list[int]:
    return [leader, *(broker for broker in row if broker != leader)]


def _writable(cluster: Cluster, lost: set[int]) -> tuple[int | None, int | None]:
    """Partitions that a loss leaves below `min.insync.replicas`, and at it; None if it is unknown for all topics."""
    unwritable = at_min = 0
    for each in cluster.topics:
        for isr in ([broker for broker in row if broker >= 0] for row in each.isr.tolist()):
            left, least = [broker for broker in isr if broker not in lost], each.min_insync_replicas or 0
            unwritable += len(left) < least <= len(isr)
            at_min += len(left) == least > 0 and len(left) < len(isr)
    is_known = any(each.min_insync_replicas is not None for each in cluster.topics)
    return (unwritable, at_min) if is_known else (None, None)


def _left(rows: Int32s, in_sync: list[list[int]], lost: set[int]) -> tuple[Int32s, int, int]:
    """The lists of remaining replicas, leaders first; how many are empty since nothing leads, and how many have another
    leader.
    """
    left: list[list[int]] = []
    offline = elected = 0
    for row, isr in zip(rows.tolist(), in_sync, strict=True):
        listed = [broker for broker in row if broker >= 0]
        remaining = [broker for broker in listed if broker not in lost]
        leader = next((broker for broker in remaining if broker == listed[0] or broker in isr), None)
        elected += leader is not None and leader != listed[0]
        offline += leader is None
        left.append([] if leader is None else [leader, *(broker for broker in remaining if broker != leader)])
    return widened(padded(left), 3), offline, elected


def made(**request: Any) -> NewPlan:
    """A plan with rates and capacities."""
    stated = {"ingress_bytes_per_s": RATES, "consumers": {"orders": 2}, "capacity": {"*": {"nic_out_bytes_per_s": 250}}}
    return draft_plan(PLANNER, PLANNER.restored(stated | request), CLUSTER, Limits())


def exported(plan: NewPlan, lost: LossSelection = ALL) -> list[Row]:
    """The rows of the file."""
    written = PLAN_KIND.write(plan, "losses", lambda: CLUSTER, FilePart(lost=lost))
    return list(csv.DictReader(StringIO(written.decode())))


@pytest.mark.parametrize(
    "request_of", [{}, {"remove_brokers": [3]}, {"topics": ["clicks"]}, {"follower_fetching": True}]
)
def test_the_worst_of_all_losses_is_that_of_the_answer(request_of: dict[str, Any]) -> None:
    """Also with topics outside the scope, whose replicas stay."""
    plan = made(**request_of)
    rows = exported(plan)
    loads: Any = plan.answer["loads"]
    remaining = {broker for broker in loads if int(broker) not in request_of.get("remove_brokers", [])}
    assert {row["broker"] for row in rows} == {"", *remaining}
    for broker in remaining:
        for kind, named in (("broker", "lost_broker"), ("rack", "lost_rack")):
            of = [row for row in rows if row["broker"] == broker and row["resource"] == "nic_out" and row[named]]
            worst = max(int(row["after_loss"]) for row in of)
            assert max(worst, loads[broker]["nic_out"]["after"]) == loads[broker]["nic_out"]["after_worst_loss"][kind]
            assert {int(row["intact"]) for row in of} == {loads[broker]["nic_out"]["after"]}


def test_a_loss_worked_by_hand() -> None:
    """Broker 1 leads orders-0 and orders-1 and follows clicks-0. Without it broker 2 leads both: it sends 200 to
    consumers, and nothing to followers, of which its limit is 250.
    """
    rows = exported(made(topics=["orders"]), LossSelection(brokers=[1]))
    assert {(row["lost_broker"], row["lost_rack"]) for row in rows} == {("1", "")}
    counts = {row["resource"]: row["after_loss"] for row in rows if not row["broker"]}
    counted = {"offline": "0", "elected": "2", "reduced": "3", "unwritable": "", "at_min_isr": ""}
    assert counts == {f"{name}_partitions": value for name, value in counted.items()}
    of_two = {row["resource"]: row for row in rows if row["broker"] == "2"}
    names = ("intact", "after_loss", "limit", "over_limit")
    assert [of_two["nic_out"][name] for name in names] == ["0", "200", "250", "no"]
    assert [of_two["leaders"][name] for name in names] == ["0", "2", "", ""]


def test_an_out_of_sync_replica_is_not_elected() -> None:
    """Of the cluster as it is; a plan assumes that every replica is in sync by then."""
    behind = replace(CLUSTER.topics[1], isr=padded([[1], [1, 2]]))
    found = health(replace(CLUSTER, topics=(CLUSTER.topics[0], behind)), losses=LossSelection(brokers=[1], racks=["b"]))
    document: Any = found.as_json()["losses"]
    names = ("lost_broker", "lost_rack", "offline_partitions", "elected_partitions")
    assert [tuple(one[name] for name in names) for one in document] == [(1, None, 1, 1), (None, "b", 0, 0)]
    assert document[0]["loads"]["2"] == {"disk": 500, "nic_in": 40, "nic_out": 0, "leaders": 1}


def test_what_cannot_be_written_is_in_the_answer_and_in_the_file() -> None:
    """Without broker 1, one of two partitions of a known minimum has no replica in sync, and the other has one left."""
    of_one = replace(CLUSTER.topics[1], isr=padded([[1], [1, 2]]), configs={"min.insync.replicas": "1"})
    found = health(replace(CLUSTER, topics=(CLUSTER.topics[0], of_one)), losses=LossSelection(brokers=[1]))
    document: Any = found.as_json()["losses"]
    names = ("unwritable_partitions", "at_min_isr_partitions")
    assert [document[0][name] for name in names] == [1, 1]
    rows = csv.DictReader(StringIO(found.losses_csv().decode()))
    written = {row["resource"]: row["after_loss"] for row in rows if row["lost_broker"] == "1" and not row["broker"]}
    assert [written[name] for name in names] == ["1", "1"]


def test_what_is_over_its_limit_after_a_loss() -> None:
    document: Any = health(limits=LimitsRequest(leaders=Limit(absolute=1)), losses=ALL).as_json()["losses"]
    over = {(one["lost_broker"], one["lost_rack"]): one["over_limit"] for one in document}
    assert over[1, None] == [{"broker": 2, "resource": "leaders", "value": 2, "limit": 1}]


@pytest.mark.parametrize(
    ("lost", "failure", "path"),
    [
        (LossSelection(brokers=[9]), UnknownBroker, ("lost_broker", 0)),
        (LossSelection(brokers=[1, 1]), ConflictingFields, ("lost_broker", 1)),
        (LossSelection(racks=["a", "z"]), UnknownRack, ("lost_rack", 1)),
    ],
)
def test_what_cannot_be_lost(lost: LossSelection, failure: type[Exception], path: tuple[object, ...]) -> None:
    with pytest.raises(failure) as raised:
        exported(made(), lost)
    assert raised.value.path == path  # type: ignore[attr-defined] # of a Failure


def test_a_removed_broker_cannot_be_lost() -> None:
    with pytest.raises(UnknownBroker, match="no broker 3 that could be lost"):
        exported(made(remove_brokers=[3]), LossSelection(brokers=[3]))


def test_losses_are_of_their_format_and_of_a_snapshot() -> None:
    with pytest.raises(ConflictingFields, match="lost_rack is of the format losses"):
        PLAN_KIND.write(made(), "loads", lambda: CLUSTER, FilePart(lost=LossSelection(racks=["a"])))
    with pytest.raises(NotExportable, match="no snapshot"):
        PLAN_KIND.write(made(), "losses", lambda: None)


def test_a_table_that_is_too_large_names_its_limit() -> None:
    report = health().report
    assert loss_table(report, ALL, most=5 * 3 * 4, path=lambda field: (field,)).names[-1] == "leaders"
    with pytest.raises(LimitExceeded, match="5 losses × 3 brokers × 4 resources are 60 loads") as raised:
        loss_table(report, ALL, most=59, path=lambda field: ("losses", field))
    assert (raised.value.path, raised.value.context["limit"]) == (("losses",), 59)
