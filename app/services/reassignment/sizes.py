"""What partitions weigh: bytes on disk and bytes per second, as far as they are known."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.core.measures.tally import positions_of
from app.core.model import UNKNOWN_SIZE, Int64s, Topic
from app.errors import ConflictingFields, RatesMissing, SizesMissing
from app.services.cautions import Caution
from app.services.reassignment.brokers import Bools, Brokers
from app.services.reassignment.requests import ReassignmentRequest
from app.services.reassignment.scope import Scope


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The sizes of a scope's partitions.

    Parameters
    ----------
    size_bytes : (rows,) int64; 0 where nobody knows. is_known : (rows,) bool, reported, or estimated where asked for.
    of_others : by topic that is not in the scope the same of its partitions.
    """

    size_bytes: Int64s = field(repr=False)
    is_known: Bools = field(repr=False)
    of_others: Mapping[str, Int64s] = field(repr=False)
    cautions: tuple[Caution, ...] = ()

    @property
    def unknown(self) -> int:
        """How many partitions of the scope have a size that nobody knows."""
        return int(np.count_nonzero(~self.is_known))


def sizes_of(request: ReassignmentRequest, scope: Scope) -> Sizes:
    """The sizes as reported; with `estimate` a topic's mean where one is not, or that of all there are."""
    sizes = scope.size_bytes.copy()
    others = {topic.name: topic.size_bytes.copy() for topic in scope.others}
    by_topic = [sizes[start:stop] for start, stop in pairwise(scope.starts.tolist())]
    missing = int(np.count_nonzero(sizes == UNKNOWN_SIZE))
    cautions = []
    if request.unknown_sizes == "estimate" and _estimate([*by_topic, *others.values()]) and missing:
        detail = (
            f"the sizes of {missing} partitions are not known; they are taken to be as large as the others of their "
            "topic are on average, or of all topics"
        )
        cautions.append(Caution("estimated_sizes", detail))
    elif missing:
        detail = f"the sizes of {missing} of {len(sizes)} partitions are not known, and not counted as bytes"
        if request.minimise == "bytes":
            detail += "; as few replicas as possible are moved, whatever their bytes"
        cautions.append(Caution("unknown_sizes", detail))
    is_known = sizes != UNKNOWN_SIZE
    return Sizes(
        np.where(is_known, sizes, 0),
        is_known,
        {name: np.maximum(found, 0) for name, found in others.items()},
        tuple(cautions),
    )


def _estimate(topics: Sequence[Int64s]) -> bool:
    """Fill in what is missing, in place; False where no size at all is known."""
    known = [found[found != UNKNOWN_SIZE] for found in topics]
    everything = np.concatenate([np.zeros(0, np.int64), *known])
    if not len(everything):
        return False
    overall = round(float(everything.mean()))
    for found, reported in zip(topics, known, strict=True):
        found[found == UNKNOWN_SIZE] = round(float(reported.mean())) if len(reported) else overall
    return True


def require_sizes(sizes: Sizes, what: str, path: tuple[str, ...]) -> None:
    """Raise `SizesMissing` where something is asked for that needs every size."""
    if sizes.unknown:
        raise SizesMissing(
            f'{what} needs the bytes of every partition; of {sizes.unknown} nobody knows them; `"unknown_sizes": '
            '"estimate"` estimates them',
            path=path,
            partitions=sizes.unknown,
        )


def weights_of(request: ReassignmentRequest, sizes: Sizes) -> tuple[Int64s, bool]:
    """(rows,) int64 what moving a replica costs, and whether that is bytes.

    Bytes where they are to be few and all are known, and replicas elsewhere, which cost 1 each.
    """
    if request.minimise == "replicas" or sizes.unknown:
        return np.ones(len(sizes.size_bytes), np.int64), False
    return sizes.size_bytes, True


def rates_of(request: ReassignmentRequest, scope: Scope) -> Int64s:
    """(rows,) int64 bytes per second into each partition, as the request tells them.

    Raises
    ------
    RatesMissing : of some topic nothing is told. ConflictingFields : of another number of partitions than it has.
    """
    told = request.ingress_bytes_per_s or {}
    for name in scope.topics:
        if name not in told:
            detail = f"brokers are to be even by what flows, and ingress_bytes_per_s says nothing of topic {name}"
            raise RatesMissing(detail, path=("ingress_bytes_per_s",), topic=name)
    return _by_row(told, scope)


def told_rates(request: ReassignmentRequest, scope: Scope) -> Int64s | None:
    """The same, 0 where nothing is told of a topic; None where nothing is told at all."""
    return None if request.ingress_bytes_per_s is None else _by_row(request.ingress_bytes_per_s, scope)


def _by_row(told: Mapping[str, float | Sequence[float]], scope: Scope) -> Int64s:
    rates = np.zeros(len(scope.partition_ids), np.float64)
    for name, (start, stop) in zip(scope.topics, pairwise(scope.starts.tolist()), strict=True):
        if name in told:
            rates[start:stop] = _rates(name, told[name], stop - start)
    return np.rint(rates).astype(np.int64)


def _rates(name: str, told: float | Sequence[float], partitions: int) -> NDArray[np.float64]:
    if isinstance(told, int | float):
        return np.full(partitions, told / max(partitions, 1))
    if len(told) != partitions:
        detail = f"topic {name} has {partitions} partitions, and the rates of {len(told)} are told"
        raise ConflictingFields(detail, path=("ingress_bytes_per_s", name), value=len(told), limit=partitions)
    return np.array(told, np.float64)


def rates_of_others(request: ReassignmentRequest, scope: Scope) -> Mapping[str, Int64s]:
    """By topic that is not in the scope what flows into its partitions; nothing where that is not told."""
    told = request.ingress_bytes_per_s or {}
    return {
        topic.name: np.rint(_rates(topic.name, told[topic.name], len(topic.partition_ids))).astype(np.int64)
        for topic in scope.others
        if topic.name in told
    }


def held_by_others(brokers: Brokers, others: Iterable[Topic], load: Mapping[str, Int64s] | None) -> Int64s:
    """(brokers,) int64 what replicas outside the scope weigh there: 1 each, or their partition's load."""
    found = np.zeros(len(brokers.ids), np.int64)
    for topic in others:
        places = positions_of(topic.replicas, brokers.ids)
        rows, columns = np.nonzero(places >= 0)
        if load is None:
            found += np.bincount(places[rows, columns], minlength=len(found))
        elif topic.name in load:
            np.add.at(found, places[rows, columns], load[topic.name][rows])
    return found


def led_by_others(brokers: Brokers, others: Iterable[Topic], load: Mapping[str, Int64s] | None) -> Int64s:
    """(brokers,) int64 partitions outside the scope whose preferred leader they are, or what flows into those."""
    found = np.zeros(len(brokers.ids), np.int64)
    for topic in others:
        if topic.replicas.shape[1] and (load is None or topic.name in load):
            weight = np.ones(len(topic.partition_ids), np.int64) if load is None else load[topic.name]
            np.add.at(found, positions_of(topic.replicas[:, :1].copy(), brokers.ids)[:, 0], weight)
    return found
