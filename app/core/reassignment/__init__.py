"""Reassignment: replicas and leaders moved as little as possible, with the proof, in batches that Kafka executes.

`plan.py` has the verb, `plan(problem)`, and its verifier. Callers import it, the records of its problem, and this
package; its files are:

plan.py           the verb `plan`, the plan, `verify`, and what a plan copies and removes
problem.py        the problem of `plan`, as arrays: what moves where, what is balanced, and within which limits;
                  constraints of the problem that conflict; the log directories of all brokers
stages/           the stages of `plan`: place, lead, choose log directories, cut batches
model.py          the movement of replicas as a problem, the balance and the placement; the replica sets of a cluster,
                  and the lists that are on others
resource_problem.py   several resources: loads, limits, goals, and the placement that answers them; loads of a placement
                      by resource, ideal loads by capacity
rules.py          constraints and costs of a problem, as the arrays that compiled loops take; regions of brokers
legal_sets_kernel.py   the cheapest legal set of brokers of a partition; the placement with the fewest moves
domains.py        eligible brokers of each partition, and its spread over racks
verifier.py       violations of a placement, whichever solver made it
parts.py          parts without common partitions and brokers, each with its own band and proof
topic_name_hash.py   the broker set of a topic by its name
plan_minimum.py   the least movement for the end of a given plan
goals/            loads: balance, limits, relief, goals in order of priority, each by its solvers with its bounds
solvers/          flows, leaders, local search, integer models
bounds/           lower bounds of loads and of the movement
log_dirs/         log directories of a broker's replicas: balanced, drained, with the fewest bytes moved
batches/          the reassignment in batches within limits, each with its inverse
completion.py     reassignments that Kafka never completes, by release
progress.py       which steps of a plan are done, by where the replicas are later
"""

from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.batches.execution import (
    Action,
    BatchCopies,
    Cordons,
    ExecutionStep,
    ReplicationRates,
    batch_durations,
    execution_steps,
    execution_violations,
    recommended_throttle,
    throttled,
)
from app.core.reassignment.batches.model import (
    Batches,
    BatchLimits,
    BrokerDisks,
    Hottest,
    LogDirMoves,
    ReassignedPartitions,
    ReplicaLogDirs,
    changes_racks,
    changes_racks_meanwhile,
)
from app.core.reassignment.batches.verifier import batch_violations
from app.core.reassignment.completion import TOLERATES_KEPT_SINCE, Incomplete, completion_rule, incomplete
from app.core.reassignment.domains import NoLegalPlacement, PartitionKind, RackRule, find_domains
from app.core.reassignment.goals.by_load import place_by_load
from app.core.reassignment.goals.forced import LoadPlacement
from app.core.reassignment.model import (
    KEEP,
    TIGHT,
    Balance,
    Band,
    BrokerBounds,
    Domain,
    MovementProblem,
    ReplicaPlacement,
)
from app.core.reassignment.parts import part_of
from app.core.reassignment.plan_minimum import PlanMinimum, ProposedPlan, least_movement_for
from app.core.reassignment.progress import (
    BatchCounts,
    PartitionsNow,
    PlannedSteps,
    StepProgress,
    StepState,
    counts_of_batches,
    progress_of_steps,
)
from app.core.reassignment.solvers.flow.destinations import TieBreaks
from app.core.reassignment.solvers.flow.least_movement import least_movement, within_budget
from app.core.reassignment.solvers.flow.per_topic import TooManyPairs, TopicBalance, balance_topics
from app.core.reassignment.solvers.flow.places import can_be_placed
from app.core.reassignment.solvers.leaders.choosing import choose_leaders
from app.core.reassignment.solvers.leaders.per_topic import topic_bands
from app.core.reassignment.solvers.leaders.problem import LeaderChoice, LeaderProblem, leader_violations
from app.core.reassignment.solvers.leaders.shares import attainable_minimums
