"""A cluster as it stands ⇄ the JSON that is kept with a sweep, so that executors need nothing else."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from app.core.capacity.axes import Axis
from app.core.measures.tally import positions_of
from app.core.model import Int32s, padded, unpadded
from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.reassignment.what_if.axes import read_axes
from app.core.reassignment.what_if.standing import Standing, StandingBroker, WhatIfs
from app.errors import Json


def standing_document(standing: Standing) -> dict[str, Json]:
    """Brokers and partitions; homes by broker id, topic by topic."""
    ids = np.array([*(broker.id for broker in standing.brokers), -1], np.int32)
    bounds = pairwise(standing.starts.tolist())
    return {
        "brokers": [{"id": its.id, "rack": its.rack, "receives": its.receives} for its in standing.brokers],
        "counts_racks": standing.counts_racks,
        "spans_all": standing.spans_all,
        "topics": [
            {
                "name": name,
                "replicas": unpadded(ids[standing.homes[start:stop]]),
                "size_bytes": standing.size_bytes[start:stop].tolist(),
            }
            for name, (start, stop) in zip(standing.topics, bounds, strict=True)
        ],
        "base": standing.base.tolist(),
        "base_bytes": standing.base_bytes.tolist(),
    }


def read_what_ifs(definition: Mapping[str, Any]) -> WhatIfs:
    """A sweep's JSON: its axes, balance and racks, and the cluster in `resolved`.

    The shape of the cluster is trusted. Raises as `axes.read_axes` does.
    """
    racks = definition.get("racks_of_added")
    kept = definition["resolved"]
    return WhatIfs(
        standing=_read_standing(kept),
        axes=axes_of(definition),
        balance=_read_balance((definition.get("balance") or {}).get("replicas")),
        racks_of_added=None if racks is None else tuple(racks),
        minds_bytes=definition["minimise"] == "bytes" and kept["sizes_known"],
    )


def axes_of(definition: Mapping[str, Any]) -> tuple[Axis, ...]:
    """The axes alone, which say how many scenarios there are. Raises as `axes.read_axes` does."""
    return read_axes(definition["axes"], [broker["id"] for broker in definition["resolved"]["brokers"]])


def _read_standing(kept: Mapping[str, Any]) -> Standing:
    topics = kept["topics"]
    ids = np.array([broker["id"] for broker in kept["brokers"]], np.int32)
    lists: Sequence[Sequence[int]] = [row for topic in topics for row in topic["replicas"]]
    sizes = [size for topic in topics for size in topic["size_bytes"]]
    homes: Int32s = positions_of(padded(lists), ids)
    return Standing(
        brokers=tuple(StandingBroker(its["id"], its["rack"], its["receives"]) for its in kept["brokers"]),
        counts_racks=kept["counts_racks"],
        spans_all=kept["spans_all"],
        topics=tuple(topic["name"] for topic in topics),
        starts=np.cumsum([0, *(len(topic["replicas"]) for topic in topics)], dtype=np.int64),
        homes=homes,
        size_bytes=np.array(sizes, np.int64),
        base=np.array(kept["base"], np.int64),
        base_bytes=np.array(kept["base_bytes"], np.int64),
    )


def _read_balance(told: Any) -> Balance | None:
    """None where nothing is told. A tolerance is the fraction that was written, and not the float next to it."""
    if told is None:
        return None
    if isinstance(told, str):
        return TIGHT if told == "tight" else KEEP
    return Balance(Fraction(repr(told["tolerance"])))
