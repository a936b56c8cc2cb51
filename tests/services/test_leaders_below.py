"""Bands of leaders that extend further below the mean than above it."""

from dataclasses import replace
from typing import Any

import pytest

from app.errors.requests import ConflictingFields
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, ReassignmentRequest, Tolerance
from tests.services.reassignments import captured

ONLY = ReassignmentRequest(leaders_only=True)


def _answer(leaders: Tolerance) -> Any:
    return draft_plan(PLANNER, replace(ONLY, balance=BalanceRequest(leaders=leaders)), captured(), Limits()).answer


def test_the_lower_end_is_that_of_below() -> None:
    """The mean is 13 leaders a broker."""
    alike, higher = _answer(Tolerance(0.5)), _answer(Tolerance(0.5, below=0.1))
    assert alike["balance"]["leaders"]["smallest"] < 12
    assert higher["balance"]["leaders"]["smallest"] == 12
    assert higher["leader_changes"] > alike["leader_changes"]


def test_a_band_that_is_not_reached_is_stated_with_its_lower_end() -> None:
    """The order of the lists of `clicks` reaches 11 to 15 leaders a broker."""
    balance = BalanceRequest(leaders=Tolerance(0.1, below=1.0))
    request = replace(ONLY, topics=["clicks"], balance=balance)
    answer: Any = draft_plan(PLANNER, request, captured(), Limits()).answer
    [caution] = [each for each in answer["warnings"] if each["code"] == "tolerance_not_reached"]
    assert "allows 0 to 14" in caution["detail"]


def test_the_same_share_below_is_no_other_band() -> None:
    alike, stated = _answer(Tolerance(0.1)), _answer(Tolerance(0.1, below=0.1))
    assert stated["balance"] == alike["balance"]
    assert stated["leader_changes"] == alike["leader_changes"]


@pytest.mark.parametrize(
    "balance", [{"leaders_by": "ingress"}, {"resources": ["disk"]}, {"leaders_by": "ingress", "resources": ["disk"]}]
)
def test_what_has_no_lower_end_of_its_own_is_named(balance: dict[str, Any]) -> None:
    request = ReassignmentRequest(balance=BalanceRequest(leaders=Tolerance(0.1, below=0.5), **balance))
    with pytest.raises(ConflictingFields) as failure:
        draft_plan(PLANNER, request, captured(), Limits())
    assert failure.value.path == ("balance", "leaders", "below")
