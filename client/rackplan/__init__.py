"""The client of Rackplan: `Client` and `AsyncClient` have every operation of the service.

snapshots.py planning.py plans.py keys.py sweeps.py jobs.py share_links.py webhooks.py service.py
                 the operations, a kind a file, and the documents that have operations themselves
client.py        `Client` and `AsyncClient`: both take the steps of an operation over httpx
flows.py         operations as generators of steps, and the two kinds of clients
exchange.py      one request: repeated if the service is busy, its problem raised; lists page by page
waiting.py       jobs and sweeps: waiting, progress
problems.py      exceptions
exports.py       files of plans and sweeps
notebook.py      plans and sweeps as HTML
records.py       documents as objects
bench/           KafkaBench: placement problems with bounds, and the judge of solutions
models.py requests.py
                 generated from the OpenAPI document: the documents, and the fields of requests
"""

from rackplan.client import AsyncClient, Client
from rackplan.exports import Export
from rackplan.flows import Async, Sync
from rackplan.jobs import Job
from rackplan.plans import ConsumersPlan, GroupPlan, Plan, ReassignmentPlan, ReplicaPlan, RestartPlan, StreamsPlan
from rackplan.problems import (
    BadRequest,
    Conflict,
    Forbidden,
    JobCancelled,
    JobFailed,
    NotFound,
    PreconditionFailed,
    Problem,
    RackplanError,
    ServerFailed,
    ServiceUnavailable,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unprocessable,
)
from rackplan.sweeps import Sweep

__all__ = [
    "Async",
    "AsyncClient",
    "BadRequest",
    "Client",
    "Conflict",
    "ConsumersPlan",
    "Export",
    "Forbidden",
    "GroupPlan",
    "Job",
    "JobCancelled",
    "JobFailed",
    "NotFound",
    "Plan",
    "PreconditionFailed",
    "Problem",
    "RackplanError",
    "ReassignmentPlan",
    "ReplicaPlan",
    "RestartPlan",
    "ServerFailed",
    "ServiceUnavailable",
    "StreamsPlan",
    "Sweep",
    "Sync",
    "TooLarge",
    "TooManyRequests",
    "Unauthorized",
    "Unprocessable",
]
__version__ = "0.1.0"
