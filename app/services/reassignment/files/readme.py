"""`README.txt` of an archive: in which order its files are executed, with the commands and the check of each step.

If brokers are cordoned or removed, everything is a numbered step: since Kafka 4.3.2 a batch whose lists contain a
cordoned broker is executed while the broker is uncordoned, and a removed broker is cordoned (since 4.3), drained, shut
down and unregistered.

If a broker of the lists is down, `--throttle` and `--verify` would wait for it: the commands configure the throttle of
each broker that is up.
"""

import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from app.core.kafka_versions import NEWEST, SUPPORTED, KafkaVersion
from app.core.measures.transfers import Transfers
from app.core.model import LISTS_CHECKED_SINCE, NO_REPLICA, Assignment, Cluster, control_in
from app.errors.every import NotExportable, escaped
from app.formats.kafka_files.topic_script import altered_topic
from app.formats.syntax.quantities import byte_size, counted, known_size
from app.formats.tables.load_tables import fullest
from app.formats.tables.reassignment_diffs import sentences
from app.services.reassignment.files.stored_steps import StoredSteps
from app.store.records import NewPlan, PlanHead

if TYPE_CHECKING:
    from jinja2 import Template

UNREGISTERS_SINCE, LISTS_ENDPOINTS_SINCE = KafkaVersion(2, 8), KafkaVersion(4, 0)
"""The first releases with `kafka-cluster unregister` (of KRaft) and `kafka-cluster list-endpoints` (KIP-1073)."""
KEEPS_FACTORS_SINCE = KafkaVersion(4, 1)
"""The first release with `kafka-reassign-partitions --disallow-replication-factor-change` (KIP-860)."""


def write(
    head: PlanHead | NewPlan,
    cluster: Cluster,
    moved: Transfers,
    steps: StoredSteps,
    grown: Mapping[str, Assignment],
    *,
    has_election: bool,
) -> str:
    """The text. `grown` has the topics that get partitions, with all of these."""
    answer: Any = head.answer
    request: Any = head.request
    stated = KafkaVersion.of(request["kafka_version"]) if request.get("kafka_version") else None
    version = stated or NEWEST
    before, after = ({*np.unique(lists).tolist()} - {NO_REPLICA} for lists in (steps.before, steps.after))
    live, fenced = ({broker.id for broker in cluster.brokers if broker.fenced is is_} for is_ in (False, True))
    down = before - live | after & fenced  # brokers that a plan adds may be unknown to the snapshot
    return _template().render(
        hash=head.hash,
        cluster=escaped(head.cluster or ""),
        sentences=sentences(moved, answer.get("log_dirs")),
        nearest=fullest(answer.get("loads") or {}),
        grown=[
            (altered_topic(topic), len(each.partition_ids), shlex.quote(f"new-partitions/{topic}.txt"))
            for topic, each in grown.items()
        ],
        names=names(steps),
        sizes=[*_sizes(answer["batches"], steps)],
        plain=[{"action": "execute", "batch": number} for number in range(1, len(steps) + 1)],
        execution=answer.get("execution"),
        removed=sorted({*request["remove_brokers"], *map(int, request.get("replace_brokers") or ())}),
        down=sorted(down),
        up=sorted((before | after) - down),
        cordon=lambda broker: shlex.quote(f"cordoned.log.dirs={cordoned_log_dirs(cluster, broker)}"),
        has_election=has_election,
        has_log_dirs=steps.has_log_dirs,
        throttle=request["batches"]["throttle_bytes_per_s"],
        warned={warning["code"] for warning in answer["warnings"]},
        stated=stated,
        keeps_factors=steps.keeps_factors,
        may_require_factors=version >= KEEPS_FACTORS_SINCE,
        lists_endpoints=version >= LISTS_ENDPOINTS_SINCE,
        unregisters=version >= UNREGISTERS_SINCE,
        lists_checked_since=LISTS_CHECKED_SINCE,
        newest_supported=SUPPORTED.to,
    )


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 — for archives alone

    text = Path(__file__).with_name("README.txt.jinja").read_text(encoding="utf-8")
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)  # noqa: S701 — no HTML
    environment.filters["byte_size"] = byte_size
    return environment.from_string(text)


def _sizes(batches: list[Any], steps: StoredSteps) -> Iterator[str]:
    """Bytes that each batch copies, and the duration."""
    for number, batch in enumerate(batches):
        words = ", and ".join(_copies(batch))
        if not batch["moves_data"]:
            partitions = steps.batch(number)
            words = f"{counted(partitions.stop - partitions.start, 'partition')} reordered, nothing copied"
        if number >= len(steps) - steps.waiting:
            words += ", once the brokers that it waits for are back"
        seconds = batch["seconds"]
        yield words + (f", {max(round(seconds), 1):,} s at the throttle" if seconds else "")


def names(steps: StoredSteps) -> list[str]:
    """The numbers of batches as their files have them."""
    width = max(len(str(len(steps))), 2)
    return [f"{number:0{width}d}" for number in range(1, len(steps) + 1)]


def cordoned_log_dirs(cluster: Cluster, broker: int) -> str:
    """The value of the setting that cordons a broker as it was, or whole.

    Raises `NotExportable` for a path with a control character, which snapshots once accepted.
    """
    cordon = cluster.cordons.get(broker)
    if cordon is None or not cordon.log_dirs:
        return "*"
    value = f"[{','.join(cordon.log_dirs)}]"
    if (control := control_in(value)) is not None:
        detail = f"a cordoned log directory of broker {broker} has {control}, which may end a line of a script"
        raise NotExportable(detail, broker=broker, value=value)
    return value


def _copies(batch: Mapping[str, Any]) -> Iterator[str]:
    """Copies of a batch between brokers, and between log directories."""
    unknown, replicas, within = batch["unknown_size_replicas"], batch["moved_replicas"], batch.get("log_dir_moves", 0)
    if replicas or not within:
        yield f"{counted(replicas, 'replica')}, {known_size(batch['moved_bytes'], replicas=replicas, unknown=unknown)}"
    if within:
        yield f"{counted(within, 'replica')} between log directories, {byte_size(batch['log_dir_moved_bytes'])}"
