"""The view of a kind of plan: on its page and in a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from app.core.measures.transfers import Transfers
from app.core.model import Cluster
from app.services import reassignment
from app.services.plans import Plan
from app.store.records import PlanHead


@dataclass(frozen=True, eq=False)
class ViewedPlan:
    """A plan with the cluster that it was made on.

    The picture, the tables and the selection of a page share computed values: a million partitions take a
    quarter of a second to compare.
    """

    plan: Plan
    cluster: Cluster = field(repr=False)

    @property
    def head(self) -> PlanHead:
        """The plan without its assignments."""
        return self.plan.head

    @cached_property
    def transfers(self) -> Transfers:
        """The transfers of a reassignment."""
        return reassignment.compared(self.plan, self.cluster)


@dataclass(frozen=True, slots=True)
class View:
    """The view of one kind of plan.

    Parameters
    ----------
    title : by the names of the plan's topics.
    draw : the picture, with these rules for its style.
    template, values : the page, and its variables besides those on every plan's page.
    tabs : of the kind, by the last part of their address, with their titles.
    has_batches : whether the plan is executed in batches, after each of which the page can show the brokers.
    """

    title: Callable[[PlanHead, Sequence[str]], str]
    draw: Callable[[ViewedPlan, str], str]
    template: str
    values: Callable[[ViewedPlan], Mapping[str, Any]]
    tabs: Mapping[str, str] = field(default_factory=dict)
    has_batches: bool = False
