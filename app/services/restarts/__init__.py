"""Plan the restart of a cluster, in waves.

requests.py     the request
problem.py      the request and the cluster as the problem of the core, and the blockers in any schedule
planning.py     the planner and its answer
reports.py      the answer: its declaration; waves, certificate and blocked partitions
differences.py  brokers whose wave differs
exports.py      the plan as files; restart.sh restarts the waves, in Kubernetes with config_map.yaml
"""

from app.services.plans import Kind
from app.services.restarts.differences import difference
from app.services.restarts.exports import EXPORTS
from app.services.restarts.planning import KIND, PLANNER
from app.services.restarts.reports import REASONS
from app.services.restarts.requests import READER, RestartRequest

PLAN_KIND = Kind(
    planner=PLANNER,
    difference=difference,
    exports=EXPORTS,
    content="the waves in which brokers are restarted, and moves no replica",
)
