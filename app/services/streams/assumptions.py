"""Warnings about a prediction: what Kafka ignores or decides by chance, and what is assumed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from app.core.streams.application import name_of
from app.core.streams.model import RackAwareStrategy, StreamsAssignment
from app.core.streams.rack_aware.racks import RacksOff, why_off
from app.core.streams.registry import StreamsAssignor
from app.errors import Json
from app.services.cautions import Caution
from app.services.streams.sources import StreamsSource


def cautions_of(
    source: StreamsSource, assignor: StreamsAssignor, assignment: StreamsAssignment, steps: Sequence[Mapping[str, Json]]
) -> Iterator[Caution]:
    """Warnings about implicit behaviour of Kafka, and the protocol that the prediction holds for."""
    options = source.options
    tags = options.rack_aware_assignment_tags
    is_rack_aware = options.rack_aware_assignment_strategy is not RackAwareStrategy.NONE
    if tags and not assignor.uses_tags:
        yield Caution("assignor_ignores_tags", f"{assignor.name} places standbys by load alone, whatever their tags")
    if tags and not options.num_standby_replicas:
        detail = "rack.aware.assignment.tags decide where standbys go, and num.standby.replicas is 0"
        yield Caution("no_standbys", detail)
    if is_rack_aware:
        yield from _of_racks(source, assignor)
    if (tags or is_rack_aware) and not assignment.threads:
        yield Caution(
            "classic_protocol_only",
            "the group's leader assigns so under the classic protocol; the broker's own assignor (KIP-1071) has no "
            "rack-aware standbys",
        )
    if assignment.probing_rebalance:
        yield Caution(
            "probing_rebalance_follows",
            f"{int(assignment.warmup.sum())} warm-ups are to catch up; after probing.rebalance.interval.ms the group "
            "rebalances again, and tasks move to where they have",
        )
    if assignment.by_chance or any(step["by_chance"] for step in steps):
        yield Caution(
            "ties_broken_by_chance",
            "Kafka 4.1 chooses between processes of equal load by identity hash codes, which differ from run to run: "
            "the group may get another assignment that is as balanced",
        )
    if assignor.reads_offsets:
        yield from _of_offsets(source)


def _of_racks(source: StreamsSource, assignor: StreamsAssignor) -> Iterator[Caution]:
    off = why_off(source.clients, source.options, source.partitions)
    if not assignor.uses_racks:
        yield Caution("assignor_ignores_racks", f"{assignor.name} ignores racks")
    elif off is not None and off.reason is not RacksOff.NO_STRATEGY:
        yield Caution("rack_aware_assignment_off", f"KIP-925 is off, which Kafka does not report: {off.detail}")


def _of_offsets(source: StreamsSource) -> Iterator[Caution]:
    owners = Counter(task for client in source.clients for thread in client.threads for task in thread.standby)
    reported = {task for client in source.clients for thread in client.threads for task in thread.task_offsets}
    unknown = [name_of(task) for task, count in sorted(owners.items()) if count > 1 and task not in reported]
    if unknown:
        detail = (
            f"no member reports an offset of {len(unknown)} tasks with several standbys, between which offsets decide: "
            + ", ".join(unknown[:20])
        )
        yield Caution("task_offsets_unknown", detail)
