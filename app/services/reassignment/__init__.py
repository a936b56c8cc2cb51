"""Change a cluster with the least movement.

    planning.py  the planner: problem, solution, violations, answer
    progress/    progress of a plan at a later snapshot
    sweep/       sweeps: each scenario is a request for a plan
    exports.py   a stored plan as files, written by files/; loss_exports.py: its loads after each loss
    differences.py  a stored plan's rows and changes
    reports/     the answer to a request
    solve.py     the plan of a problem with its supplements; the movement by Kafka's own tool, as a comparison
    failures.py  conflicts in words
    problem/     the request and the cluster as one frozen problem
    requests/    the request and its validation

Imports point down this list.
"""

from app.services.plans import Kind
from app.services.reassignment.differences import broker_transfers, compared, difference, summed
from app.services.reassignment.exports import EXPORTS, one_batch
from app.services.reassignment.files.stored_steps import StoredSteps, batches_of
from app.services.reassignment.loss_exports import losses_of
from app.services.reassignment.planning import PLANNER
from app.services.reassignment.problem.brokers import brokers_of
from app.services.reassignment.problem.scope import scope_of
from app.services.reassignment.progress.progress import progress_of, resumed
from app.services.reassignment.requests.parts import (
    BalanceRequest,
    BatchesRequest,
    EvacuateRequest,
    IsolateRequest,
    PerTopicRequest,
    PinRequest,
    Tolerance,
)
from app.services.reassignment.requests.request import KIND, READER, ReassignmentRequest
from app.services.reassignment.requests.validation import check

PLAN_KIND = Kind(
    planner=PLANNER,
    difference=difference,
    exports=EXPORTS,
    content="the replicas that move",
    batch=one_batch,
    losses=losses_of,
    resumed=resumed,
)
