"""Common parts of all kinds of plans.

pipeline.py      the one way from a request to a plan; the outcome of each attempt, for logs and metrics; answers
                 of other releases of Kafka
status.py        status, labels and notes beside a plan, and their history
record.py        a stored plan, a page of its partitions, its difference from another plan; words of titles and
                 summaries; hashes of requests, and seeds derived from them
answers.py       the answers that every kind has: a plan, its rows, a page of a difference
exports.py       the file formats of plans; texts with names to fill in
kind.py          the definition of a kind of plan, and a plan as JSON and as files; the protocol of a kind
kinds.py         the registry of plan kinds; import it by its own name, since the kinds import this package
"""

from app.services.plans.exports import (
    BATCH,
    FORMATS,
    MARKDOWN_ROWS,
    ClusterOf,
    FilePart,
    LossSelection,
    Write,
    file_name,
)
from app.services.plans.kind import STEPS, Allowance, Kind, Planner, PlanRequest, Site, plan_json
from app.services.plans.pipeline import check_job, draft_plan, make_plan
from app.services.plans.record import (
    Difference,
    Plan,
    PlannedPartition,
    as_json,
    load,
    made_on,
    named_plan,
    other_plan,
    partitions,
    request_of,
)
from app.services.plans.status import PlanPatch, Status, change
