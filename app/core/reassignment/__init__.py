"""Reassignment: replicas and leaders moved as little as possible, with the proof, in batches that Kafka executes.

`plan.py` has the verb, `plan(problem)`, and its verifier. Callers import it, the records of its problem, and this
package; its files are:

plan.py           the verb `plan`, the plan, `verify`, and what a plan copies and removes
problem.py        the problem of `plan`, as arrays: what moves where, what is balanced, and within which limits;
                  constraints of the problem that conflict; the log directories of all brokers
stages/           the stages of `plan`: place, lead, choose log directories, cut batches
model.py          the movement of replicas as a problem, the balance and the placement; the replica sets of a cluster,
                  and the lists that are on others
domains.py        eligible brokers of each partition, and its spread over racks
verifier.py       violations of a placement, whichever solver made it
bands.py          the narrowest feasible band, by maximum flows over groups of partitions
parts.py          parts without common partitions and brokers, each with its own band and proof
topic_name_hash.py   the broker set of a topic by its name
plan_minimum.py   the least movement for the end of a given plan
counts/           replicas balanced by count: the least movement, exactly
loads/            replicas balanced by bytes or throughput: local search, with lower bounds
log_dirs/         log directories of a broker's replicas: balanced, drained, with the fewest bytes moved
leaders/          preferred leaders: by count, exactly, or by ingress
resources/        several resources at once: balance, limits, relief, goals in order of priority
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
from app.core.reassignment.counts.destinations import TieBreaks
from app.core.reassignment.counts.least_movement import least_movement, within_budget
from app.core.reassignment.counts.per_topic import TooManyPairs, TopicBalance, balance_topics
from app.core.reassignment.counts.places import can_be_placed
from app.core.reassignment.domains import NoLegalPlacement, PartitionKind, RackRule, find_domains
from app.core.reassignment.leaders.choosing import choose_leaders
from app.core.reassignment.leaders.per_topic import topic_bands
from app.core.reassignment.leaders.problem import LeaderChoice, LeaderProblem, leader_violations
from app.core.reassignment.leaders.shares import attainable_minimums
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
from app.core.reassignment.resources.by_load import place_by_load
from app.core.reassignment.resources.forced import LoadPlacement
