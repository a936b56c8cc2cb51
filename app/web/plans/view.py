"""The view of a kind of plan: on its page and in a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.model import Cluster
from app.services.plans import Plan
from app.store.records import PlanHead


@dataclass(frozen=True, slots=True)
class View:
    """The view of one kind of plan.

    Parameters
    ----------
    title : by the names of the plan's topics. prediction : what the plan predicts, in a sentence or two.
    draw : the picture, over the cluster that the plan was made on and with these rules for its style.
    template, values : the page, and its variables besides those of every plan's page.
    has_batches : whether the plan is executed in batches, after each of which the page can show the brokers.
    """

    title: Callable[[PlanHead, Sequence[str]], str]
    prediction: Callable[[PlanHead], str]
    draw: Callable[[Plan, Cluster, str], str]
    template: str
    values: Callable[[Plan, Cluster], Mapping[str, Any]]
    has_batches: bool = False


def topic_names(names: Sequence[str]) -> str:
    """The topics of a plan in a few words."""
    if not names:
        return "no topic"
    if len(names) <= 3:
        return ", ".join(names)
    return f"{', '.join(names[:2])} and {len(names) - 2} more topics"
