"""The verifier: every way in which an assignment from any source is illegal or fragile."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from app.core.measures import tally_kernel as kernel
from app.core.measures.tally import Tally
from app.core.model import Int32s

_NOT_IN_RACK = 1 << 7
"""A bit that `tally_kernel` does not use."""
NAMED_PARTITIONS = 100
"""How many partitions a violation names; it counts them all."""


VIOLATIONS: Mapping[str, Mapping[str, str]] = json.loads(
    files("app.core.measures").joinpath("violations.json").read_bytes()
)
"""The meaning of each code of a violation: of a placement in the order of the verifier, then of a reassignment; of a
group's assignment; of an assignment of tasks. They are in violations.json."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which some partitions of one topic are illegal or fragile."""

    code: str
    """Stable code of the violation."""
    severity: str
    """`illegal`: Kafka rejects, cannot serve or never completes it. `fragile`: legal, but the loss of one broker or
    rack costs more than necessary."""
    topic: str
    """Name of the topic."""
    count: int
    """Number of partitions concerned."""
    partitions: tuple[int, ...]
    """Ids of the first 100 partitions concerned, ascending."""
    detail: str
    """The violation in a sentence, with its numbers."""


def violations(counts: Tally, in_rack: Collection[str] = ()) -> list[Violation]:
    """List every way in which an assignment is illegal or fragile, by topic in the given order.

    Parameters
    ----------
    in_rack : topics of which all replicas of a partition are to be in one rack.

    Returns
    -------
    Empty if every partition has replicas on distinct, known brokers, is led by an unfenced one and spans
    min(replicas, racks) racks, or one. A broker that is unknown, or fenced and without a rack, may be in any; a live
    one without a rack adds none, but a single replica on it is not fragile.

    Examples
    --------
    >>> from app.core.measures.tally import tally
    >>> from app.core.model import Assignment, Broker
    >>> orders = Assignment(np.array([0], np.int32), np.array([[1, 1]], np.int32))
    >>> [violation.code for violation in violations(tally({"orders": orders}, [Broker(1, "a"), Broker(2, "b")]))]
    ['duplicate_replica', 'too_few_racks']

    Source: KIP-36, "Proposed Changes".
    """
    kinds = (
        (kernel.NO_REPLICAS, "no_replicas", "illegal", "have no replica at all"),
        (kernel.UNKNOWN_BROKER, "unknown_broker", "illegal", "have a replica on a broker that is not in the cluster"),
        (kernel.DUPLICATE_REPLICA, "duplicate_replica", "illegal", "name one broker twice"),
        (kernel.FENCED_LEADER, "fenced_leader", "fragile", "are led by a fenced broker"),
        (kernel.TOO_FEW_RACKS, "too_few_racks", "fragile", f"span fewer racks than they could ({len(counts.racks)})"),
        (_NOT_IN_RACK, "not_in_rack", "fragile", "span several racks, and are to be in one"),
    )
    listed = []
    of_topics = zip(counts.assignments.items(), counts.faults, counts.positions, strict=True)
    for (topic, assignment), by_rule, positions in of_topics:
        faults = by_rule if topic not in in_rack else _in_rack(by_rule, counts, positions)
        if not faults.any():
            continue
        for bit, code, severity, what in kinds:
            rows = np.flatnonzero(faults & bit)
            if len(rows):
                named = tuple(assignment.partition_ids[rows[:NAMED_PARTITIONS]].tolist())
                detail = f"{len(rows)} of {len(faults)} partitions of {topic} {what}"
                listed.append(Violation(code, severity, topic, len(rows), named, detail))
    return listed


def _in_rack(faults: NDArray[np.uint8], counts: Tally, positions: Int32s) -> NDArray[np.uint8]:
    """The faults of a topic that is to be in one rack. A broker that is unknown or without a rack is in any."""
    rack_of = np.append(counts.table.rack_of, [-1, -1])[positions]
    most = rack_of.max(axis=1, initial=-1)
    least = np.where(rack_of < 0, len(counts.racks), rack_of).min(axis=1, initial=len(counts.racks))
    spans_several = (least < most).astype(np.uint8) * np.uint8(_NOT_IN_RACK)
    return np.asarray(spans_several | (faults & ~np.uint8(kernel.TOO_FEW_RACKS)), np.uint8)
