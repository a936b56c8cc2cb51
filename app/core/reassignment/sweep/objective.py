"""What every scenario of a reassignment sweep optimises: balance by count or by topic, or goals within limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.counts.per_topic import TopicBalance
from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.reassignment.resources import Goal, StatedLimit
from app.core.reassignment.sweep.loads import (
    LIMIT_AXES,
    SweptLoads,
    read_limits,
    require_distinct_limits,
    require_known,
    require_loads,
    with_axes,
)
from app.core.reassignment.sweep.weights import is_weight_axis
from app.core.sweeps.axes import Axis
from app.errors import FieldPath
from app.errors.reassignments import UnknownTopic
from app.errors.requests import ConflictingFields


@dataclass(frozen=True, slots=True)
class SweptObjective:
    """Limits and goals, as of a plan's request.

    Parameters
    ----------
    limits : those that no axis varies. resources : balanced jointly, by the capacity of each broker.
    goals : in order of priority; None if the balance states what is optimised, and empty if brokers are only to be
        brought below their limits.
    topics : the tolerance of each topic that is balanced, by name; None if topics are not balanced.
    """

    limits: Mapping[str, StatedLimit]
    resources: tuple[str, ...]
    goals: tuple[Goal, ...] | None
    topics: Mapping[str, Fraction] | None

    def priorities(self, balance: Balance, limits: Mapping[str, StatedLimit]) -> tuple[tuple[Goal, ...], ...] | None:
        """The goals of a scenario by priority; None if it has no limits and no goals, so that counts are balanced."""
        if self.goals is not None:
            return tuple((goal,) for goal in self.goals)
        if not (limits or self.resources):
            return None
        joint = {name: Goal(name) for name in self.resources}
        if balance.tolerance is not None:
            joint.setdefault("replicas", Goal("replicas", balance.tolerance))
        return (tuple(joint.values()),) if joint else ()

    def topic_balance(self, names: Sequence[str], starts: Int64s) -> TopicBalance | None:
        """The balance of each topic, in the order of the cluster's topics."""
        if self.topics is None:
            return None
        topic_of = np.repeat(np.arange(len(names)), np.diff(starts))
        return TopicBalance(topic_of, len(names), tuple(self.topics.get(name) for name in names))


def read_balance(value: Any) -> Balance | None:
    """None if the request has none. A tolerance is the fraction that was written, not the float nearest to it."""
    if value is None:
        return None
    if isinstance(value, str):
        return TIGHT if value == "tight" else KEEP
    return Balance(Fraction(repr(value["tolerance"])))


def read_objective(definition: Mapping[str, Any]) -> SweptObjective:
    """The objective of a sweep's JSON. Raises `ConflictingFields`, `UnknownTopic` as `require_consistent` does."""
    balance, objective = definition.get("balance") or {}, definition.get("objective") or "balance"
    return SweptObjective(
        limits=read_limits(definition.get("limits")),
        resources=tuple(balance.get("resources") or ()),
        goals=_goals(objective),
        topics=_topics(balance.get("per_topic"), [topic["name"] for topic in definition["resolved"]["topics"]]),
    )


def _goals(objective: Any) -> tuple[Goal, ...] | None:
    if objective == "relieve":
        return ()
    if objective == "balance":
        return None
    return tuple(Goal(goal["goal"], Fraction(repr(goal.get("tolerance", 0.0)))) for goal in objective["goals"])


def _topics(per_topic: Any, names: Sequence[str]) -> Mapping[str, Fraction] | None:
    if per_topic is None:
        return None
    tolerance = read_balance(per_topic["replicas"])
    named = names if per_topic.get("topics") is None else per_topic["topics"]
    for position, name in enumerate(named):
        if name not in names:
            path = ("balance", "per_topic", "topics", position)
            raise UnknownTopic(f"topic {name} is not one of the topics that may move", path=path, value=name)
    return dict.fromkeys(named, Fraction(0) if tolerance is None else tolerance.tolerance or Fraction(0))


def require_consistent(definition: Mapping[str, Any], axes: Sequence[Axis], loads: SweptLoads | None) -> None:
    """Raise what is wrong with the limits and goals of a sweep's JSON, beyond what its readers reject.

    Raises
    ------
    ConflictingFields : fields that exclude each other. UnknownTopic : of a balance per topic.
    SizesMissing, RatesMissing, CapacityMissing : what is limited or balanced is not known.
    """
    objective = read_objective(definition)
    paths = [axis.path for axis in axes]
    require_distinct_limits(paths)
    varied = [axis for axis in axes if axis.path in LIMIT_AXES]
    if (definition.get("balance") or {}).get("weights") == "capacity":
        for axis in axes:
            if is_weight_axis(axis.path):
                detail = "balance.weights is capacity, which is the weight of every broker; leave one of them out"
                raise ConflictingFields(detail, path=("axes", axis.path))
    for path, value, detail in _conflicts(definition, objective, is_limited=bool(varied or objective.limits)):
        raise ConflictingFields(detail, path=path, value=value)
    if loads is None:
        return
    stated: dict[FieldPath, StatedLimit] = {("limits", name): limit for name, limit in objective.limits.items()}
    for axis in varied:
        [limit] = [limit for name, limit in with_axes({}, {axis.path: axis.values[0]}).items()]
        stated["axes", axis.path] = limit
    brokers = [broker["id"] for broker in definition["resolved"]["brokers"]]
    adds = any(axis.path == "add_brokers" and any(axis.values) for axis in axes)
    require_loads(loads, brokers, stated, adds=adds)
    for position, name in enumerate(objective.resources):
        require_known(loads, name, f"a balance of {name}", ("balance", "resources", position))
    for position, goal in enumerate(objective.goals or ()):
        require_known(loads, goal.name, f"a balance of {goal.name}", ("objective", "goals", position))


def _conflicts(
    definition: Mapping[str, Any], objective: SweptObjective, *, is_limited: bool
) -> list[tuple[FieldPath, Any, str]]:
    balance, stated = definition.get("balance") or {}, definition.get("objective")
    found: list[tuple[FieldPath, Any, str]] = []
    if objective.goals == () and not is_limited:
        detail = "objective relieve brings brokers below limits, and neither limits nor an axis has one"
        found.append((("objective",), stated, detail))
    if objective.goals is not None:
        for name in ("resources", "replicas"):
            if balance.get(name) not in (None, [], "keep"):
                detail = f"the objective states what is balanced, and balance.{name} does, too; leave one of them out"
                found.append((("balance", name), balance[name], detail))
    if objective.topics is not None and (is_limited or objective.resources or objective.goals is not None):
        detail = "balance.per_topic balances counts alone, and limits, resources or an objective are given"
        found.append((("balance", "per_topic"), None, detail))
    return found
