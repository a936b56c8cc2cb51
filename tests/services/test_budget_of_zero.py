"""A budget of 0 bytes is a budget: what does not go with one is refused, whatever its amount."""

from typing import Any

import pytest

from app.errors.requests import ConflictingFields
from app.services.limits import Limits
from app.services.reassignment.requests.parts import BalanceRequest, PerTopicRequest
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.reassignment.requests.validation import check

OTHERS: list[dict[str, Any]] = [
    {"balance": BalanceRequest(replicas="tight", replicas_by="bytes")},
    {"balance": BalanceRequest(replicas="tight", replicas_by="throughput")},
    {"balance": BalanceRequest(per_topic=PerTopicRequest(replicas="tight"))},
    {"leaders_only": True},
    {"minimise": "replicas"},
]


@pytest.mark.parametrize("budget", [0, 1, 2**40])
@pytest.mark.parametrize("others", OTHERS, ids=lambda others: next(iter(others)))
def test_what_does_not_go_with_a_budget_is_refused(others: dict[str, Any], budget: int) -> None:
    with pytest.raises(ConflictingFields, match="max_moved_bytes"):
        check(ReassignmentRequest(max_moved_bytes=budget, **others), Limits())


@pytest.mark.parametrize("others", OTHERS, ids=lambda others: next(iter(others)))
def test_without_a_budget_it_is_not(others: dict[str, Any]) -> None:
    check(ReassignmentRequest(**others), Limits())
