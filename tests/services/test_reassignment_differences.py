"""`/diff` of a reassignment: the books of each broker, and pages of partitions under them."""

from dataclasses import asdict, replace
from typing import Any, cast

import pytest
from pydantic import TypeAdapter

from app.core.model import Broker, Placement, padded
from app.errors.requests import SnapshotNotFound
from app.services import snapshots
from app.services.limits import Limits
from app.services.plans import Difference, Plan, as_json, draft_plan
from app.services.reassignment import PLANNER, ReassignmentRequest, compared, difference, summed
from app.services.reassignment.differences import ReassignmentDiffDocument, load_changes
from app.store.database import Database
from tests.services.reassignments import CLUSTER, MIB, PLACEMENTS, as_stored, captured, kafkas_own, plan
from tests.services.test_health import CLUSTER as HEALTHY


def document(found: Difference) -> dict[str, Any]:
    """As the API writes it, read by the API's schema."""
    items = found.items(0, found.total)
    whole = {"summary": found.summary, "items": as_json(items), "next_page_token": None}
    written: dict[str, Any] = as_json(whole)
    assert as_json(TypeAdapter(ReassignmentDiffDocument).validate_python(written)) == written
    return written


def test_a_worked_example() -> None:
    found = document(summed(compared(plan(), CLUSTER)))
    brokers = {its["broker"]: its for its in found["summary"].pop("brokers")}
    flows = found["summary"].pop("flows")
    assert found["summary"] == {
        "partitions": 5,
        "partitions_added": 1,
        "partitions_removed": 0,
        "partitions_changed": 4,
        "replicas_added": 3,
        "replicas_removed": 3,
        "preferred_leaders_changed": 3,
        "moved_bytes": 13 * MIB,
        "unknown_size_replicas": 1,
        "flows_in_all": 2,
        "loads": None,
        "cross_rack": None,
    }
    assert brokers[106] == {
        "broker": 106,
        "rack": "az-b",
        "replicas_before": 1,
        "replicas_after": 4,
        "leaders_before": 0,
        "leaders_after": 3,
        "bytes_before": 2048,
        "bytes_after": 12 * MIB + 2048,
        "unknown_size_before": 0,
        "unknown_size_after": 1,
        "replicas_in": 2,
        "replicas_out": 0,
        "bytes_in": 12 * MIB,
        "bytes_out": 0,
        "unknown_size_in": 1,
        "unknown_size_out": 0,
        "replicas_created": 1,
    }
    assert flows == [
        {"from_broker": 105, "to_broker": 106, "replicas": 2, "bytes": 12 * MIB, "unknown_size_replicas": 1},
        {"from_broker": 105, "to_broker": 107, "replicas": 1, "bytes": MIB, "unknown_size_replicas": 0},
    ]
    assert [(its["topic"], its["partition"], its["racks_before"], its["racks_after"]) for its in found["items"]] == [
        ("clicks", 0, 2, 2),
        ("clicks", 1, 2, 2),
        ("orders", 0, 2, 2),
        ("orders", 1, 2, 2),
        ("orders", 2, 0, 1),
    ]


def test_kafkas_own_proposal() -> None:
    found = document(summed(compared(kafkas_own(), captured())))
    assert found["summary"]["replicas_added"] == 195
    assert sum(its["replicas_in"] for its in found["summary"]["brokers"]) == 195
    assert sum(its["bytes"] for its in found["summary"]["flows"]) == found["summary"]["moved_bytes"]


def test_a_raised_factor_has_no_sending_broker() -> None:
    raised = plan([Placement("orders", 0, padded([[101, 105, 106], [105, 101]]))])
    [flow] = document(summed(compared(raised, CLUSTER)))["summary"]["flows"]
    assert (flow["from_broker"], flow["to_broker"]) == (None, 106)


def test_against_its_snapshot_another_snapshot_and_another_plan(database: Database) -> None:
    """Against another plan: the difference of the two results, whatever each of them names."""
    with database.begin() as uow:
        snapshot = snapshots.store(uow, CLUSTER, Limits())
        later = replace(CLUSTER, topics=CLUSTER.topics[:1], name="later")
        other_snapshot = snapshots.store(uow, later, Limits())

        def stored(number: int, *placements: Placement) -> Plan:
            new = replace(plan(placements), hash=str(number), cluster=None, snapshot_id=snapshot.id)
            return Plan(uow.plans.store(new), tuple(new.placements))

        both, first = stored(1, *PLACEMENTS), stored(2, PLACEMENTS[0])
        assert difference(uow, both, None).summary["replicas_added"] == 3
        assert difference(uow, both, snapshot.id).summary["replicas_added"] == 3
        assert difference(uow, both, other_snapshot.id).summary["partitions_added"] == 3
        assert difference(uow, both, both.head.id).total == 0
        assert [item.topic for item in _items(difference(uow, both, first.head.id))] == ["orders"] * 3
        # Seen from the other plan orders-2 is not there to be changed, and stays.
        assert [(item.topic, item.after) for item in _items(difference(uow, first, both.head.id))] == [
            ("orders", (101, 105)),
            ("orders", (105, 101)),
        ]
        nowhere = Plan(replace(both.head, snapshot_id=None), both.placements)
        with pytest.raises(SnapshotNotFound):
            difference(uow, nowhere, None)


def _items(found: Difference) -> list[Any]:
    items = list(found.items(0, found.total))
    assert all(asdict(item) for item in items)  # type: ignore[call-overload] # records of the core
    return items


def test_loads_of_two_plans_side_by_side() -> None:
    """Of one plan before and after; of two the result of each, null for a broker or resource that one of them lacks."""
    rates = {"clicks": 10.0, "orders": 100.0}
    stated, grown = (
        as_stored(draft_plan(PLANNER, replace(request, ingress_bytes_per_s=rates), HEALTHY, Limits()))
        for request in (
            ReassignmentRequest(),
            ReassignmentRequest(growth={"orders": 2.0}, add_brokers=[Broker(4, "b")]),
        )
    )
    own, of_grown = (cast("Any", each.head.answer) for each in (stated, grown))
    loads, crossing = as_json(load_changes(stated, None))
    assert loads["1"]["disk"] == {"before": 600, "after": own["loads"]["1"]["disk"]["after"]}
    assert crossing["before_bytes_per_s"] == own["cross_rack"]["before_bytes_per_s"]
    both, _ = as_json(load_changes(grown, stated))
    for broker, by_resource in own["loads"].items():
        for name, load in by_resource.items():
            assert both[broker][name]["before"] == load["after"]
    assert both["4"]["disk"] == {"before": None, "after": of_grown["loads"]["4"]["disk"]["after"]}
    without = as_stored(replace(plan(), answer={**plan().answer}))
    assert load_changes(without, None) == ({}, None)
