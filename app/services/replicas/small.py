"""Placements of so few replicas that they are planned between other requests, without a process of their own.

What bounds the work is looked at before it is done: the entries of the body's lists before it is validated, the brokers
and the replicas before they are placed. The largest take 2 ms of processor time, 36 replicas on 12 brokers half a
millisecond.
"""

from typing import Any, Final

from app.core.compiled.interpreted import interpreting
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.replicas.planning import PLANNER
from app.services.replicas.requests import ReplicasRequest
from app.store.records import NewPlan

MOST_BROKERS: Final = 64
MOST_SORTED: Final = 64
"""Brokers × topics: each topic sorts the brokers into racks anew."""
MOST_REPLICAS: Final = 120
_FIELDS = frozenset({"brokers", "algorithm", "rack_mode", "seed", "topics", "labels"})
_OF_A_BROKER = frozenset({"id", "rack", "fenced"})
_MOST_LABELS = 16


def is_short(body: Any) -> bool:
    """Whether a body, as parsed, may be the request for a small plan: only these fields, and short lists."""
    if not isinstance(body, dict) or not _FIELDS.issuperset(body) or body.get("seed") is None:
        return False
    brokers, topics, labels = body.get("brokers"), body.get("topics"), body.get("labels", {})
    return (
        isinstance(brokers, list)
        and 0 < len(brokers) <= MOST_BROKERS
        and all(isinstance(broker, dict) and _OF_A_BROKER.issuperset(broker) for broker in brokers)
        and isinstance(topics, list)
        and 0 < len(topics) * len(brokers) <= MOST_SORTED
        and isinstance(labels, dict)
        and len(labels) <= _MOST_LABELS
    )


def drafted(request: ReplicasRequest, limits: Limits) -> NewPlan | None:
    """The plan, made by the one way of all plans but not stored; None if it is not small. Raises as `make_plan`.

    Parameters
    ----------
    request : of a body that `is_short`.
    """
    replicas = sum(max(topic.partitions, 0) * max(topic.replication_factor, 0) for topic in request.topics)
    partitions = sum(max(topic.partitions, 0) for topic in request.topics)
    is_striped = request.algorithm in (None, "striped")
    if not is_striped or replicas > MOST_REPLICAS or partitions > limits.max_sync_partitions:
        return None
    PLANNER.check_site(request)
    with interpreting():
        return draft_plan(PLANNER, request, None, limits)
