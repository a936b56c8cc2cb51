"""Place new topics and new partitions.

requests.py      the request record and its validation
planning.py      a request to a plan
awareness.py     exposure, unassigned replicas and warnings of a placement by attributes
differences.py   replicas and preferred leaders that a plan changes
exports.py       the plan as a file
"""

from app.services.replicas.differences import difference, movement_summary
from app.services.replicas.exports import EXPORTS
from app.services.replicas.planning import (
    partition_json,
    place,
    placed,
    plan,
    run,
    warm_up,
)
from app.services.replicas.requests import (
    KIND,
    ReplicasRequest,
    check,
    restored,
    stored,
)

__all__ = [
    "EXPORTS",
    "KIND",
    "ReplicasRequest",
    "check",
    "difference",
    "movement_summary",
    "partition_json",
    "place",
    "placed",
    "plan",
    "restored",
    "run",
    "stored",
    "warm_up",
]
