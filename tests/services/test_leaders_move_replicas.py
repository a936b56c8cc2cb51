"""Requests in which replicas move for the balance of leaders: their optima, and excluded combinations."""

from dataclasses import replace
from typing import Any

import pytest

from app.errors.requests import ConflictingFields
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, ReassignmentRequest, Tolerance
from tests.services.reassignments import captured


def _answer(request: ReassignmentRequest) -> Any:
    return draft_plan(PLANNER, request, captured(), Limits()).answer


@pytest.mark.parametrize(
    ("balance", "budget", "ends", "moved_bytes"),
    [
        (BalanceRequest(leaders_move_replicas=True), None, (13, 13), 1_231_836),
        (BalanceRequest(leaders=Tolerance(0.1), leaders_move_replicas=True), None, (12, 14), 189_852),
        (BalanceRequest(leaders_move_replicas=True), 1_000_000, (12, 14), 189_852),
        (BalanceRequest(leaders_move_replicas=True), 0, (11, 15), 0),
    ],
)
def test_leaders_reach_a_band_that_their_order_alone_does_not(
    balance: BalanceRequest, budget: int | None, ends: tuple[int, int], moved_bytes: int
) -> None:
    """Of `clicks` alone the order reaches 11 to 15 leaders a broker, as a budget of 0 does."""
    answer = _answer(ReassignmentRequest(topics=["clicks"], balance=balance, max_moved_bytes=budget))
    leaders, certificate = answer["balance"]["leaders"], answer["certificate"]
    assert (leaders["smallest"], leaders["largest"]) == ends
    assert certificate["moved_bytes"] == certificate["lower_bound_bytes"] == moved_bytes


def test_fewer_leaders_change_if_these_are_minimised() -> None:
    """In the same band, at the cost of bytes, which are the fewest with that."""
    request = ReassignmentRequest(topics=["clicks"], balance=BalanceRequest(leaders_move_replicas=True))
    bytes_first, changes_first = _answer(request), _answer(replace(request, minimise="leader_changes"))
    assert changes_first["balance"]["leaders"]["largest"] == bytes_first["balance"]["leaders"]["largest"] == 13
    assert changes_first["leader_changes"] <= bytes_first["leader_changes"]
    proof = changes_first["certificate"]
    assert bytes_first["certificate"]["moved_bytes"] <= proof["lower_bound_bytes"] == proof["moved_bytes"]
    assert "no more leader changes" in proof["constraints"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"leaders_only": True}, ("minimise",)),
        ({"balance": BalanceRequest(leaders_move_replicas=True), "max_moved_bytes": 1}, ("max_moved_bytes",)),
    ],
)
def test_the_fewest_changes_are_of_replicas_that_move_for_leaders(
    fields: dict[str, Any], path: tuple[str, ...]
) -> None:
    with pytest.raises(ConflictingFields) as failure:
        PLANNER.check(ReassignmentRequest(minimise="leader_changes", **fields), Limits())
    assert failure.value.path == path


@pytest.mark.parametrize(
    ("fields", "balance", "path"),
    [
        ({"leaders_only": True}, {}, ("balance", "leaders_move_replicas")),
        ({"remove_brokers": [105]}, {}, ("balance", "leaders_move_replicas")),
        ({"min_leaders_per_broker": {"orders": 1}}, {}, ("balance", "leaders_move_replicas")),
        ({}, {"leaders": "keep"}, ("balance", "leaders")),
        ({}, {"leaders": "preferred"}, ("balance", "leaders")),
        ({}, {"leaders_by": "ingress"}, ("balance", "leaders_move_replicas")),
        ({}, {"replicas": "tight"}, ("balance", "leaders_move_replicas")),
        ({}, {"resources": ["disk"]}, ("balance", "leaders_move_replicas")),
    ],
)
def test_what_does_not_go_with_it_is_named(
    fields: dict[str, Any], balance: dict[str, Any], path: tuple[str, ...]
) -> None:
    request = ReassignmentRequest(balance=BalanceRequest(leaders_move_replicas=True, **balance), **fields)
    with pytest.raises(ConflictingFields) as failure:
        PLANNER.check(request, Limits())
    assert failure.value.path == path
