"""A reassignment as files: what Kafka's tools take, forwards and back, and what people and programs read.

`kafka-reassign-partitions` refuses partitions that are not there yet, so that no file for it names new ones: those are
created first, by `kafka-topics --alter --replica-assignment`. A rollback executes what was there before, list by list:
Kafka's own cancelling brings back which brokers have replicas, not which of them leads.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from app.core.measures.transfers import Transfers
from app.core.model import Cluster
from app.errors import NotExportable
from app.formats import reassignment_diffs, reassignment_tables
from app.services.plans import MARKDOWN_ROWS, ClusterOf, Plan, Write
from app.services.reassignment import bundles
from app.services.reassignment.comparison import compared
from app.services.reassignment.kept import batches_of
from app.store.plans import NewPlan


def one_batch(plan: Plan | NewPlan, number: int, is_inverse: bool) -> bytes:
    """The execute file of the batch of that number, from 1 on, or of its inverse. Raises `NotExportable`."""
    steps = batches_of(plan.head if isinstance(plan, Plan) else plan)
    if not 1 <= number <= len(steps):
        there = f"has the batches 1 to {len(steps)}" if len(steps) else "has no batch, since it moves nothing"
        raise NotExportable(f"the plan {there}; there is no batch {number}", batches=len(steps))
    return bundles.batch_file(steps, number - 1, is_inverse=is_inverse)


def _of_transfers(write: Callable[[Transfers], bytes]) -> Write:
    """What writes a plan by what it moves."""

    def written(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
        return write(compared(plan, _known(cluster_of)))

    return written


def _known(cluster_of: ClusterOf) -> Cluster:
    cluster = cluster_of()
    if cluster is None:
        raise NotExportable("the plan was made from no snapshot, so that nobody knows what it moves")
    return cluster


def _batches(plan: Plan | NewPlan, cluster_of: ClusterOf) -> bytes:
    head = plan.head if isinstance(plan, Plan) else plan
    cluster = _known(cluster_of)
    return bundles.write(head, compared(plan, cluster), cluster)


def _replica_assignment(found: Transfers) -> bytes:
    """The string is of one topic, from partition 0 on: Kafka counts off what the topic has already."""
    grown = bundles.grown_topics(found)
    if not grown:
        raise NotExportable("no topic of the plan gets new partitions, and --replica-assignment is of those", topics=0)
    if len(grown) > 1:
        names = ", ".join(list(grown)[:10])
        raise NotExportable(f"--replica-assignment is of one topic; name one of: {names}", topics=len(grown))
    [(name, assignment)] = grown.items()
    return bundles.replica_assignment_file(name, assignment)


EXPORTS: Mapping[str, Write] = MappingProxyType(
    {
        "reassignment": _of_transfers(bundles.execute_file),
        "rollback": _of_transfers(bundles.rollback_file),
        "batches": _batches,
        "replica_assignment": _of_transfers(_replica_assignment),
        "text": _of_transfers(lambda found: reassignment_diffs.write_text(found, limit=MARKDOWN_ROWS).encode()),
        "markdown": _of_transfers(lambda found: reassignment_diffs.write_markdown(found, limit=MARKDOWN_ROWS).encode()),
        "csv": _of_transfers(lambda found: reassignment_tables.write_csv(found.changed())),
        "arrow": _of_transfers(lambda found: reassignment_tables.write_arrow(found.changed())),
    }
)
"""What a reassignment is written as."""
