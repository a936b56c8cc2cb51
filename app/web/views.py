"""How a kind of plan is shown, whatever the kind: on its page, in a picture, in a list."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.model import Cluster
from app.services.plans import Plan
from app.store.plans import PlanHead


@dataclass(frozen=True, slots=True)
class Worth:
    """What a list says a plan is worth in one share; None where nothing is known of racks."""

    share: float | None
    words: str
    is_good: bool


@dataclass(frozen=True, slots=True)
class View:
    """One kind of plan to look at.

    Parameters
    ----------
    title : by the names of the plan's topics. prediction : what can be relied on, in a sentence or two.
    draw : the picture, over the cluster that the plan was made on and with these rules for its style.
    template, values : the page, and what it reads beside what every plan's page does.
    """

    title: Callable[[PlanHead, Sequence[str]], str]
    worth: Callable[[PlanHead], Worth]
    prediction: Callable[[PlanHead], str]
    draw: Callable[[Plan, Cluster, str], str]
    template: str
    values: Callable[[Plan, Cluster], Mapping[str, Any]]


def topic_names(names: Sequence[str]) -> str:
    """The topics of a plan in a few words."""
    if not names:
        return "no topic"
    if len(names) <= 3:
        return ", ".join(names)
    return f"{', '.join(names[:2])} and {len(names) - 2} more topics"
