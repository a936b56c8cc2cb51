"""The loads of a stored plan after the loss of each broker and rack: computed from its request when they are exported.

A table has brokers² × resources numbers, which no answer and no stored plan has; the request, the snapshot and the
replica lists determine them.
"""

from app.core.kafka_versions import release_of
from app.core.measures.tally import positions_of
from app.core.replica_lists import stacked, widened
from app.errors.every import NotExportable
from app.services.limits import Limits
from app.services.plans import Allowance, ClusterOf, LossSelection, Plan
from app.services.reassignment.problem.resolve import resolve
from app.services.reassignment.reports.loads import load_report
from app.services.reassignment.reports.losses import losses_file
from app.services.reassignment.requests.request import restored
from app.store.records import NewPlan

_NO_LIMIT = 2**62
"""The plan was within the limits when it was made."""


def losses_of(plan: Plan | NewPlan, cluster_of: ClusterOf, lost: LossSelection) -> bytes:
    """The table as CSV, every replica in sync.

    Raises `NotExportable` of a plan that was made from no snapshot, and as `loss_table` does.
    """
    cluster = cluster_of()
    if cluster is None:
        raise NotExportable("the plan was made from no snapshot, so that its loads are unknown")
    request = restored(plan.head.request)
    limits = Limits(max_partitions=_NO_LIMIT, max_replicas=_NO_LIMIT)
    version = release_of(request.kafka_version, cluster.kafka_version)
    problem = resolve(request, cluster, Allowance(limits, is_job=True), version)
    after = positions_of(stacked([placement.replicas for placement in plan.placements]), problem.brokers.ids)
    report = load_report(
        *(problem.brokers, problem.resources, problem.limits),
        before=problem.before,
        after=widened(after, max(1, after.shape[1])),
    )
    return losses_file(report, lost)
