"""Change a cluster with the least movement.

requests.py      the request record and its validation
resolve.py       the request and the cluster as one frozen problem; what solvers return for it
  broker_set_requests.py  broker sets of a request
  broker_sets.py   the broker set of each broker and topic
  brokers.py       current, added and removed brokers by position
  scope.py         the partitions that may move, as rows
  loads.py         bytes, rates and counts by row, and the objectives balanced by them
  resource_requests.py  what a request says about resources: capacities, traffic, limits, prices
  growth.py        sizes and rates in the future
  capacities.py    capacities of brokers
  weights.py       weights of brokers
  broker_limits.py their upper limits, and what is missing for them
  objectives.py    what is optimised over resources
  resources.py     what partitions load on brokers: disk, NIC in and out, vCPU
  leader_constraints.py  preferred racks of leaders, minimums of topics on brokers
  parts.py         each broker set with its topics, placed on its own
  domains.py       eligible brokers of each partition
  conflicts.py     irreducible infeasible subsets of the request, in words
kafka_generate.py  what Kafka's own tool would move, as a comparison
resource_planning.py  replicas and leaders placed together, within limits of resources
planning.py      from the problem to replica lists, leaders and batches; the planner
placing.py       replicas by count, bytes or throughput, part by part
leading.py       the leaders of replica lists
rebalances.py    the groups that rebalance, and in which batches
log_dir_avoidance.py  other brokers for replicas that find no log directory
reports.py       the answer
  movement.py      what is copied and removed, by replica and by broker
  certificates.py  movement and leader changes with their lower bounds
  balance_reports.py  bands that were reached, of all brokers and of each set, and what other bands cost
  batch_reports.py  batches, their order, and the steps as they are stored
  plan_cautions.py  warnings about the plan itself
  log_dir_reports.py  log directories before and after
times.py         how long batches take, and the throttle to use
load_reports.py  loads before, after and after losses; bytes between racks
resource_reports.py  what goals reached, and what is above limits
differences.py   a stored plan's rows and what it changes
exports.py       the plan as files
readme.py        the order of execution, with commands and checks
kubernetes.py    the batches as ConfigMaps and a Job, which runs run_batches.sh
stored_steps.py  the steps of a stored plan, by batch
progress.py      what is done and left of a plan at a later snapshot
  located.py       the plan's partitions in that snapshot, as arrays
  drift.py         what something else has changed
  log_dir_progress.py  steps that only choose log directories
  resumed.py       the files that go on or back from there
"""

from app.services.plans import Kind, replica_lists
from app.services.reassignment.brokers import BrokerTable, brokers_of
from app.services.reassignment.differences import (
    SHOWN_FLOWS,
    BrokerFlow,
    BrokerTransfer,
    broker_transfers,
    compared,
    difference,
    partition_json,
    summed,
)
from app.services.reassignment.drift import Drift
from app.services.reassignment.exports import EXPORTS, one_batch
from app.services.reassignment.loads import PartitionSizes, replicas_of_others, sizes_of
from app.services.reassignment.log_dir_requests import LogDirsRequest, LogDirTolerance
from app.services.reassignment.planning import PLANNER
from app.services.reassignment.progress import PlanProgress, progress
from app.services.reassignment.requests import (
    KIND,
    BalanceRequest,
    BatchesRequest,
    EvacuateRequest,
    Evenness,
    IsolateRequest,
    LeadersBy,
    PerTopicRequest,
    PinRequest,
    ReassignmentRequest,
    ReplicasBy,
    Tolerance,
    check,
)
from app.services.reassignment.resumed import resumed
from app.services.reassignment.scope import PartitionScope, scope_of
from app.services.reassignment.stored_steps import StoredSteps, batches_of

PLAN_KIND = Kind(
    planner=PLANNER,
    rows=replica_lists,
    partition=partition_json,
    difference=difference,
    exports=EXPORTS,
    content="the replicas that move",
    batch=one_batch,
    resumed=resumed,
)
