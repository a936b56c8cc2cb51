"""Verify a reassignment of any origin.

verification.py   the check: violations, measures, movement and freshness
progress.py       results of --verify, beside the plan
health.py         loads, limits, the first to fail, the least repair; disks above their limits after a reassignment,
                  and during it
safety.py         replicas that are lost, factors that are lowered, lists that Kafka never completes; lists that
                  Kafka rejects by themselves
comparison.py     a stored reassignment beside one of another origin
minimum.py        the least movement that reaches the same end
conditions.py     the conditions under which a check fails: `violations`, `skew>0.1`
desired.py        differences from topics as they are to be, and the reassignment that removes them
"""

from app.services.checks.conditions import MEASURES, Outcome, Subject, conditions
from app.services.checks.desired import Differences, TopicDifference, compare, placement_of
from app.services.checks.health import MOST_LOADS_OF_LOSSES, Health, HealthRequest
from app.services.checks.verification import (
    Check,
    check,
    check_cluster,
    check_health,
    check_reassignment,
    losses_before,
)
