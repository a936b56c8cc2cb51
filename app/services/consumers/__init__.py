"""Plan the consumers of a group over time.

requests.py         the request, and its rates as arrays
series.py           the forms of a series of rates; rates from stored snapshots
answers.py          the answer: its declaration
planning.py         the planner and its answer
differences.py      intervals with another number of consumers
exports.py          the plan as files: tables, KEDA (scaled_object.yaml), Kubernetes; cron_job.yaml sets the minimum of
                    an autoscaler
"""

from app.services.consumers.differences import difference
from app.services.consumers.exports import EXPORTS
from app.services.consumers.planning import KIND, PLANNER
from app.services.consumers.requests import READER, ConsumersRequest
from app.services.plans import Kind

PLAN_KIND = Kind(
    planner=PLANNER,
    difference=difference,
    exports=EXPORTS,
    content="the consumers of a group over time, and moves no replica",
)
