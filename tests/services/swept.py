"""Sweeps over reassignments of a cluster without a database: resolved, sent as JSON and scored as executors do."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.core.model import Broker, Cluster
from app.core.sweeps import score
from app.services.limits import Limits
from app.services.sweeps.reassignment import read_sweep, resolve, resolved_on
from tests import draws as st
from tests.services.reassignments import topic

Json = dict[str, Any]


def cluster(
    current: Sequence[Sequence[int]], racks: Sequence[str | None], sizes: Sequence[int] | None = None
) -> Cluster:
    """Brokers 0, 1, … in these racks, and a topic t of these lists, if there are any."""
    brokers = tuple(Broker(broker, rack) for broker, rack in enumerate(racks))
    topics = (topic("t", current, [1] * len(current) if sizes is None else sizes),) if current else ()
    return Cluster("c", brokers, topics)


def definition_of(cluster: Cluster, axes: Json, **fields: Any) -> Json:
    """A definition as it is stored; racks are enforced if every broker has one."""
    modes = {True: "enforced", False: "disabled"}
    stated: Json = {
        "snapshot_id": str(UUID(int=1)),
        "axes": axes,
        "minimise": "bytes",
        "rack_mode": modes[all(broker.rack is not None for broker in cluster.brokers)],
    }
    resolved = resolved_on(cluster, stated | fields, Limits())
    no_database: Any = None  # resolving reads none
    return dict(resolve(no_database, json.loads(json.dumps(resolved)), Limits()))


def rows(cluster: Cluster, axes: Json, **fields: Any) -> list[Json]:
    """All scenarios, as an executor scores them: from JSON."""
    sweep = read_sweep(json.loads(json.dumps(definition_of(cluster, axes, **fields))))
    found: list[Json] = json.loads(json.dumps([row.document for row in score(sweep, 0, sweep.count)]))
    assert [row["index"] for row in found] == list(range(sweep.count))
    return found


@st.composite
def clusters(draw: st.DrawFn, *, racked: bool | None = None) -> Cluster:
    """Up to six brokers, in up to three racks or in none, with up to eight partitions of one or two factors."""
    brokers = draw(st.integers(1, 6))
    is_racked = draw(st.booleans()) if racked is None else racked
    names = st.sampled_from(["a", "b", "c"]) if is_racked else st.none()
    current = [
        list(draw(st.permutations(range(brokers)))[: draw(st.integers(1, min(3, brokers)))])
        for _ in range(draw(st.integers(1, 8)))
    ]
    sizes = draw(st.lists(st.integers(0, 9), min_size=len(current), max_size=len(current)))
    return cluster(current, draw(st.lists(names, min_size=brokers, max_size=brokers)), sizes)
