"""What other releases of Kafka answer to the request of a plan.

The pipeline solves the problem again as another release has it; here the two answers are compared row by row.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from app.core.kafka_versions import KafkaRange, KafkaVersion
from app.core.model import NO_REPLICA, Int32s, Placement
from app.errors import Failure, Json
from app.errors.kafka import KafkaRefuses
from app.services.cautions import Caution
from app.services.plans.record import PlannedPartition

LISTED_ROWS = 1000
"""How many rows of a difference are listed; it counts them all."""


@dataclass(frozen=True, slots=True)
class ReleaseAnswer:
    """What one release answers.

    Parameters
    ----------
    releases : those that answer alike; None if the release was not compared.
    placements : the rows of the answer.
    """

    releases: KafkaRange | None
    placements: Sequence[Placement]


AnswerOf: TypeAlias = Callable[[KafkaVersion], ReleaseAnswer]
"""Solves the problem as a release has it; raises the release's `Failure`."""
RowJson: TypeAlias = Callable[[PlannedPartition], dict[str, Json]]
"""A row as pages of a plan list it."""


def releases_json(releases: KafkaRange | None, version: KafkaVersion) -> Json:
    """The releases that a plan holds for; None if the one that it is made for was not compared."""
    return None if releases is None or version not in releases else releases.as_json()


def compared_json(
    own: Sequence[Placement], version: KafkaVersion, answer_of: AnswerOf, row_json: RowJson
) -> dict[str, Json]:
    """The answer of another release, as its difference from a plan's own."""
    answer: dict[str, Json] = {"kafka_version": str(version), "kafka": None, "differing": None, "rows": []}
    try:
        other = answer_of(version)
    except Failure as failure:
        error: dict[str, Json] = {"code": failure.code, "detail": failure.detail}
        if isinstance(failure, KafkaRefuses):
            error["kafka_exception"] = failure.kafka.exception
        return answer | {"error": error}
    rows: list[Json] = []
    differing = 0
    for before, after in _differing(own, other.placements):
        differing += 1
        if differing <= LISTED_ROWS:
            rows.append({"before": row_json(before), "after": row_json(after)})
    releases = releases_json(other.releases, version)
    return answer | {"kafka": releases, "differing": differing, "rows": rows, "error": None}


def upgrade_cautions(own: Sequence[Placement], later: Sequence[KafkaVersion], answer_of: AnswerOf) -> Iterator[Caution]:
    """Warnings about later releases that answer otherwise; `later` are those whose code is another."""
    rows = sum(len(placement.replicas) for placement in own)
    for version in later:
        try:
            differing = sum(1 for _ in _differing(own, answer_of(version).placements))
        except Failure as failure:
            detail = f"since Kafka {version}: the same request fails: {failure.detail}"
            yield Caution("differs_after_upgrade", detail, kafka_version=str(version))
            continue
        if differing:
            detail = f"since Kafka {version}: {differing} of {rows} rows differ; compare_kafka_versions lists them"
            yield Caution("differs_after_upgrade", detail, kafka_version=str(version))


def _differing(
    own: Sequence[Placement], other: Sequence[Placement]
) -> Iterator[tuple[PlannedPartition, PlannedPartition]]:
    """The rows that differ, of the plan and of the other answer, in the plan's order. Both have the same rows."""
    for mine, theirs in zip(own, other, strict=True):
        if (mine.topic, mine.first_partition_id, len(mine.replicas)) != (
            theirs.topic,
            theirs.first_partition_id,
            len(theirs.replicas),
        ):
            raise RuntimeError(f"rows of {mine.topic} and {theirs.topic} are compared")
        width = max(mine.replicas.shape[1], theirs.replicas.shape[1])
        before, after = _widened(mine.replicas, width), _widened(theirs.replicas, width)
        for row in np.flatnonzero((before != after).any(axis=1)).tolist():
            partition = mine.first_partition_id + row
            yield (
                PlannedPartition(mine.topic, partition, mine.replicas[row].tolist()),
                PlannedPartition(mine.topic, partition, theirs.replicas[row].tolist()),
            )


def _widened(rows: Int32s, width: int) -> Int32s:
    """The rows, padded to (rows, width)."""
    widened = np.full((len(rows), width), NO_REPLICA, np.int32)
    widened[:, : rows.shape[1]] = rows
    return widened
