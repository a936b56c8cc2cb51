"""Placements of so few replicas that they are planned between other requests, without a process of their own.

What bounds the work is looked at in the body, before it is validated. The largest take 2 ms of processor time, 36
replicas on 12 brokers 0.4 ms, and 0.3 ms once the loops are loaded.
"""

import math
from typing import Any, Final

from app.core.compiled.building import uncompiled
from app.core.compiled.interpreted import interpreting, load
from app.core.measures import tally_kernel
from app.core.replicas import striped_kernel
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
    """Whether a body, as parsed, may be the request for a small plan: only these fields, short lists, few replicas."""
    if not isinstance(body, dict) or not _FIELDS.issuperset(body) or body.get("seed") is None:
        return False
    if body.get("algorithm") not in (None, "striped"):
        return False
    brokers, topics, labels = body.get("brokers"), body.get("topics"), body.get("labels", {})
    return (
        isinstance(brokers, list)
        and 0 < len(brokers) <= MOST_BROKERS
        and all(isinstance(broker, dict) and _OF_A_BROKER.issuperset(broker) for broker in brokers)
        and isinstance(topics, list)
        and 0 < len(topics) * len(brokers) <= MOST_SORTED
        and sum(map(_replicas, topics)) <= MOST_REPLICAS
        and isinstance(labels, dict)
        and len(labels) <= _MOST_LABELS
    )


def load_loops() -> None:
    """Load the loops that place and count, unless some loops have to be compiled first; their sources are run before.

    It imports numba: 0.4 s and 30 MB, so that a process which makes few plans does without.
    """
    if not uncompiled():
        load(striped_kernel.fill, tally_kernel.count)


def _replicas(topic: Any) -> float:
    """The replicas of a topic of a body; infinity if it does not state them."""
    if not isinstance(topic, dict):
        return math.inf
    partitions, factor = topic.get("partitions"), topic.get("replication_factor")
    if not isinstance(partitions, int) or not isinstance(factor, int) or partitions < 1 or factor < 1:
        return math.inf
    return partitions * factor


def drafted(request: ReplicasRequest, limits: Limits) -> NewPlan | None:
    """The plan, made by the one way of all plans but not stored; None if it has to be a job. Raises as `make_plan`.

    Parameters
    ----------
    request : of a body that `is_short`.
    """
    if sum(topic.partitions for topic in request.topics) > limits.max_sync_partitions:
        return None
    PLANNER.check_site(request)
    with interpreting():
        return draft_plan(PLANNER, request, None, limits)
