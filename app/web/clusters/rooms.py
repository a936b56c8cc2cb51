"""The tables of the pages of a cluster: brokers, topics, partitions and groups."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.core.measures.health import partition_states
from app.core.measures.partition_table import BrokerLoads, PartitionTable
from app.core.model import NO_REPLICA, Cluster, Int64s
from app.core.recorded import RecordedGroup
from app.store.records import Snapshot
from app.web.clusters.broker_map import MEASURES, broker_state
from app.web.clusters.health import PARTITION_WORDS
from app.web.words import extent

MOST_ROWS = 100
"""Partitions that a page lists."""
PAGE = 300
"""Brokers, topics and groups that a page lists."""
_WIDTH, _HEIGHT = 84, 22


def broker_rows(table: PartitionTable, loads: BrokerLoads, start: int) -> list[dict[str, Any]]:
    """The brokers from a position on, each with its rack, its state and its measures as (value, text)."""
    measures = {name: measure.values(table, loads) for name, measure in MEASURES.items()}
    return [
        {
            "id": broker.id,
            "rack": broker.rack,
            "state": broker_state(table, at),
            "measures": {
                name: (float(np.nan_to_num(values[at], nan=-1)), MEASURES[name].written(values[at]))
                for name, values in measures.items()
                if values is not None
            },
        }
        for at, broker in enumerate(table.brokers.brokers[start : start + PAGE], start)
    ]


def extremes(table: PartitionTable, loads: BrokerLoads) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Of each measure: its label, its mean, and, with their values, three brokers with most and one with least."""
    listed = np.flatnonzero(table.is_listed)
    found = []
    for measure in MEASURES.values():
        values = measure.values(table, loads)
        if values is None or not len(listed) or np.isnan(values[listed]).any() or not values[listed].any():
            continue
        order = listed[np.argsort(-values[listed], kind="stable")]
        named = [(str(table.brokers.ids[at]), measure.written(float(values[at]))) for at in (*order[:3], order[-1])]
        found.append((measure.label, measure.written(float(values[listed].mean())), named))
    return found


def topic_rows(states: Mapping[str, Mapping[str, int]], cluster: Cluster, start: int) -> list[dict[str, Any]]:
    """The topics from a position on, each with the number of its partitions in each state that concerns clients."""
    return [
        {
            "name": topic.name,
            "partitions": len(topic.partition_ids),
            "factors": factors(topic.replicas),
            "min_isr": topic.min_insync_replicas,
            "bytes": int(np.maximum(topic.size_bytes, 0).sum()),
            "states": {name: states[name].get(topic.name, 0) for name in PARTITION_WORDS},
        }
        for topic in cluster.topics[start : start + PAGE]
    ]


def factors(replicas: np.ndarray[Any, Any]) -> str:
    """The number of replicas of the partitions of a topic: one number, or the smallest and the largest."""
    lengths = np.count_nonzero(replicas != NO_REPLICA, axis=1)
    return extent(int(lengths.min()), int(lengths.max())) if len(lengths) else "0"


def rows_in(table: PartitionTable, cluster: Cluster, topic: str, state: str) -> Int64s:
    """The indices of the partitions of a topic, or of all, that are in a state, if one is given."""
    rows = table.rows_of(topic)
    chosen = np.arange(rows.start, rows.stop, dtype=np.int64)
    return chosen[partition_states(cluster, table.brokers)[state][rows]] if state else chosen


def partition_rows(table: PartitionTable, rows: Int64s) -> list[dict[str, Any]]:
    """The first partitions of some rows."""
    ids, racks = table.brokers.ids, table.brokers.rack_of
    listed = []
    for row in rows[:MOST_ROWS].tolist():
        replicas, leader = table.replicas[row], int(table.leaders[row])
        real = replicas != NO_REPLICA
        listed.append(
            {
                "topic": table.topics[int(np.searchsorted(table.starts, row, side="right")) - 1],
                "id": int(table.partition_ids[row]),
                "leader": None if leader < 0 else int(ids[leader]),
                "replicas": ids[replicas[real]].tolist(),
                "out_of_sync": ids[replicas[real & ~table.in_sync[row]]].tolist(),
                "racks": len(set(racks[replicas[real]].tolist())),
                "bytes": int(table.size_bytes[row]),
            }
        )
    return listed


def group_row(group: RecordedGroup) -> dict[str, Any]:
    """A group: its members, the topics that they read, and its lag in records; None if that is unknown."""
    lags = [offset.lag for offset in group.offsets if offset.lag is not None]
    topics = {topic for member in group.members for topic in member.topics or ()}
    topics |= {each.topic for member in group.members for each in member.assigned or ()}
    return {
        "group": group,
        "topics": sorted(topics | {offset.topic for offset in group.offsets}),
        "lag": sum(lags) if lags else None,
    }


def sparkline(recent: Sequence[Snapshot], state: str) -> str:
    """The points of a line of the number of partitions in a state, from the oldest snapshot to the newest."""
    healths: list[Any] = [snapshot.summary.get("health") or {} for snapshot in reversed(recent)]
    values: list[int] = [health.get(state) or 0 for health in healths]
    step, most = _WIDTH / max(1, len(values) - 1), max([1, *values])
    return " ".join(
        f"{at * step:.1f},{_HEIGHT - 2 - value / most * (_HEIGHT - 4):.1f}" for at, value in enumerate(values)
    )
