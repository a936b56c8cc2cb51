"""Several resources at once: replicas and leaders placed within limits, balanced by capacity, with bounds.

model.py         resources, loads, limits, goals, and the placement that answers them
evaluation.py    loads of a placement by resource; ideal loads by capacity
balancing.py     the verb reach_goals: one goal, several jointly, or in order of priority
budget.py        the verb reach_within: goals as nearly as a budget of movement allows; the verb relieve: the least
                 movement that brings every broker below its limits
search.py        local search within ceilings, floors and limits, with little movement; the placement with forced
                 moves alone, and its leaders
exact.py         small problems: every aim in order, by integer models
one_load.py      one load that no leader changes: two starts, exact models of regions, a bound
by_load.py       the verb place_by_load: replicas balanced by one load
forced.py        forced moves alone, balanced by one load; its certificates
sums.py          lower bounds by sums over sets of brokers: shares, excess, conflicts
integer_model.py limits that conflict only together, and the least excess, of small problems; what is proven of the
                 load above limits
movement_bound.py   lower bound on the movement by Lagrangian duality
state_kernel.py  a placement that changes one replica or leader at a time, with the penalty of each broker
search_kernel.py which broker changes next, and how many of its replicas and leaders at once
changes_kernel.py  the best single change of a broker: a move, or a transfer of a leader
swaps_kernel.py  swaps of a broker's replicas with those of others
receivers_kernel.py  which brokers receive, and which give
undo_kernel.py   undoing what the penalty does not need
prices_kernel.py the cheapest legal replicas and leader of each partition under dual prices
answers.py       a placement with its certificates, excess and conflicts
verifier.py      violations of an answer, whichever solver made it
"""

from app.core.reassignment.resources.answers import with_leaders
from app.core.reassignment.resources.balancing import reach_goals
from app.core.reassignment.resources.budget import BudgetNotReached, reach_within, relieve
from app.core.reassignment.resources.evaluation import kafka_loads, loads_of
from app.core.reassignment.resources.integer_model import limits_conflict
from app.core.reassignment.resources.model import (
    GOALS,
    NO_CAPACITY,
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    BalancedGoal,
    FollowerReads,
    Goal,
    LimitConflict,
    Limits,
    ResourceLoads,
    ResourcePlacement,
    ResourceProblem,
)
from app.core.reassignment.resources.verifier import resource_violations
