"""Several resources at once: replicas and leaders placed within limits, balanced by capacity, with bounds.

model.py         resources, loads, limits, goals, and the placement that answers them
evaluation.py    loads of a placement by resource; ideal loads by capacity
balancing.py     the verbs balance_resources and reach_goals: one goal, several jointly, or in order of priority
relieving.py     the verb relieve: the least movement that brings every broker below its limits
start.py         the placement with forced moves alone, and its leaders
answers.py       a placement with its certificates, excess and conflicts
verifier.py      violations of an answer, whichever solver made it
"""

from app.core.reassignment.resources.balancing import balance_resources, reach_goals
from app.core.reassignment.resources.evaluation import ideal_loads, kafka_loads, loads_of
from app.core.reassignment.resources.model import (
    GOALS,
    NO_CAPACITY,
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    BalancedGoal,
    Excess,
    FollowerReads,
    Goal,
    LimitConflict,
    Limits,
    ResourceLoads,
    ResourcePlacement,
    ResourceProblem,
)
from app.core.reassignment.resources.relieving import relieve
from app.core.reassignment.resources.verifier import resource_violations
