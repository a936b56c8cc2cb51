"""The exact cost of losing each rack, broker or pair of brokers, before anything is moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from app.core.compiled.interpreted import of_size
from app.core.measures import losses_kernel as kernel
from app.core.measures.tally import BrokerArrays
from app.core.model import NO_LEADER, NO_REPLICA, Bools, Int32s, Int64s
from app.core.replica_lists import factors_of

MOST_BROKERS = 2_000
"""Live brokers up to which pairs are counted: their counts take 64 MB."""
WORST_PAIRS = 10
"""How many of the worst pairs are named."""


@dataclass(frozen=True, slots=True)
class LossCounts:
    """Numbers of partitions that the loss of one rack or broker affects, without those already offline or
    unwritable.
    """

    offline: int
    """Partitions that lose their leader and have no other in-sync replica."""
    unwritable: int | None
    """Partitions that are left with fewer in-sync replicas than `min.insync.replicas`, so that producers with
    `acks=all` cannot write; null if it is unknown for all partitions."""
    at_min_isr: int | None
    """Partitions that are left with exactly `min.insync.replicas` in-sync replicas; null likewise."""
    leaders_moved: int
    """Partitions that another replica has to lead."""
    fewer_replicas: int
    """Partitions that lose at least one replica."""


@dataclass(frozen=True, slots=True)
class WorstPair:
    """The loss of two brokers."""

    brokers: tuple[int, int]
    """Ids of the brokers, ascending."""
    unwritable: int | None
    """Partitions that cannot be written without both; null if `min.insync.replicas` is unknown for all partitions."""
    offline: int
    """Partitions that are offline without both."""


@dataclass(frozen=True, slots=True)
class PairLosses:
    """The loss of each two live brokers."""

    pairs: int
    """Number of pairs of live brokers."""
    unwritable_pairs: int | None
    """Pairs without which a partition cannot be written; null if `min.insync.replicas` is unknown for all."""
    offline_pairs: int
    """Pairs without which a partition is offline."""
    worst: Sequence[WorstPair]
    """The pairs without which most partitions cannot be written, at most 10; then by offline partitions and ids."""


@dataclass(frozen=True, slots=True)
class RestartLosses:
    """One live broker restarts while another one fails, each two equally likely."""

    share_of_failures_unwritable: float | None
    """Share of such failures after which a partition cannot be written until the broker is back; null if
    `min.insync.replicas` is unknown for all partitions, or with fewer than two live brokers."""


@dataclass(frozen=True, slots=True)
class Losses:
    """The cost of each loss: of racks by name, of brokers by id, and of pairs of brokers."""

    racks: Mapping[str, LossCounts]
    """Cost of losing each rack, by name."""
    brokers: Mapping[int, LossCounts]
    """Cost of losing each broker, by id."""
    pairs: PairLosses | None
    """Cost of losing two brokers; null with more than 2,000 live brokers."""
    during_restart: RestartLosses | None
    """A failure during a restart; null with more than 2,000 live brokers."""
    min_isr_unknown: int
    """Partitions whose `min.insync.replicas` is unknown, which count as writable until they are offline."""
    log_dirs: Mapping[int, Mapping[str, LossCounts]] | None = None
    """Cost of losing each log directory, by broker id and path; null unless a cluster is checked as it is, and its
    directories are known."""

    def worst(self, of: Literal["racks", "brokers"], name: Literal["offline", "unwritable"]) -> int | None:
        """The largest count of the losses of single racks or brokers; None if it is unknown for a partition."""
        if name == "unwritable" and self.min_isr_unknown:
            return None
        each: Mapping[Any, LossCounts] = self.racks if of == "racks" else self.brokers
        return max((getattr(counts, name) or 0 for counts in each.values()), default=0)

    @property
    def share_during_restart(self) -> float | None:
        """The share of failures during the restart of another broker after which a partition cannot be written; None if
        it is unknown.
        """
        known = None if self.min_isr_unknown else self.during_restart
        return None if known is None else known.share_of_failures_unwritable


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaStates:
    """The replicas of partitions as a loss meets them.

    Parameters
    ----------
    positions : (partitions, widest) int32 brokers, negative for padding and for unknown brokers.
    in_sync : the same shape; False if a position is negative.
    leaders : (partitions,) int32 columns; negative without a leader. min_isr : (partitions,) int32, 0 if unknown.
    """

    positions: Int32s = field(repr=False)
    in_sync: Bools = field(repr=False)
    leaders: Int32s = field(repr=False)
    min_isr: Int32s = field(repr=False)

    @classmethod
    def placed(cls, positions: Int32s, fenced: Bools, min_isr: Int32s) -> "ReplicaStates":
        """A placement of which every replica on a live broker is in sync, and the first of these leads.

        Parameters
        ----------
        positions : (partitions, widest) int32; len(fenced) is an unknown broker.
        """
        in_sync = np.append(~fenced, [False, False])[positions]  # unknown brokers, and -1
        leaders = np.where(in_sync.any(axis=1), in_sync.argmax(axis=1), NO_LEADER).astype(np.int32)
        known = np.where(positions < len(fenced), positions, np.int32(NO_REPLICA))
        return cls(np.ascontiguousarray(known), np.ascontiguousarray(in_sync), leaders, min_isr)

    def losses_of(self, group_of: Int32s, groups: int) -> Int64s:
        """(groups, 5) int64 counts of `losses_kernel`: the loss of each group of brokers alone.

        Parameters
        ----------
        group_of : (brokers,) int32, negative for a broker in no group.
        """
        return self.counts(np.append(group_of, np.int32(-1))[self.positions], groups)

    def counts(self, groups: Int32s, number: int) -> Int64s:
        """(number, 5) int64 counts of `losses_kernel`, by the group of each replica.

        Parameters
        ----------
        groups : (partitions, widest) int32, negative for a replica in no group.
        """
        counts = np.zeros((number, kernel.COUNTS), np.int64)
        if self.positions.size:
            add = of_size(kernel.add_losses, self.positions.size * self.positions.shape[1])
            add(groups, self.in_sync, self.leaders, self.min_isr, counts)
        return counts

    def losses(self, brokers: BrokerArrays) -> Losses:
        """The loss of each rack, each broker and each two live brokers.

        Complexity: O(partitions · factor² + brokers²).

        Examples
        --------
        >>> from app.core.model import Broker
        >>> brokers = BrokerArrays.of([Broker(1, "a"), Broker(2, "b"), Broker(3, "c")])
        >>> positions, min_isr = np.array([[0, 1, 2]], np.int32), np.array([2], np.int32)
        >>> found = ReplicaStates.placed(positions, brokers.fenced, min_isr).losses(brokers)
        >>> found.racks["a"]
        LossCounts(offline=0, unwritable=0, at_min_isr=1, leaders_moved=1, fewer_replicas=1)
        >>> found.during_restart
        RestartLosses(share_of_failures_unwritable=1.0)
        """
        is_known = not len(self.min_isr) or bool(self.min_isr.any())
        ids = brokers.ids.tolist()
        of_brokers = self.losses_of(np.arange(len(ids), dtype=np.int32), len(ids))
        of_racks = self.losses_of(brokers.rack_of, len(brokers.racks))
        pairs = self._pairs(brokers, of_brokers, is_known=is_known)
        share = None
        if pairs is not None and pairs.unwritable_pairs is not None and pairs.pairs:
            share = round(pairs.unwritable_pairs / pairs.pairs, 6)
        return Losses(
            racks=dict(zip(brokers.racks, loss_counts(of_racks, is_known=is_known), strict=True)),
            brokers=dict(zip(ids, loss_counts(of_brokers, is_known=is_known), strict=True)),
            pairs=pairs,
            during_restart=None if pairs is None else RestartLosses(share),
            min_isr_unknown=int(np.count_nonzero(self.min_isr == 0)),
        )

    def _pairs(self, brokers: BrokerArrays, alone: Int64s, *, is_known: bool) -> PairLosses | None:
        live = np.flatnonzero(~brokers.fenced)
        if len(live) > MOST_BROKERS:
            return None
        joint = np.zeros((len(live), len(live), 2), np.int64)
        place_of = np.full(len(brokers.ids) + 1, NO_REPLICA, np.int32)
        place_of[live] = np.arange(len(live), dtype=np.int32)
        if self.positions.size:
            add = of_size(kernel.add_pairs, self.positions.size * self.positions.shape[1])
            add(place_of[self.positions], self.in_sync, self.leaders, self.min_isr, joint)
        single = alone[live][:, [kernel.OFFLINE, kernel.UNWRITABLE]]
        both = joint + single[:, None]
        both += single
        both *= np.tri(len(live), k=-1, dtype=np.int64).T[:, :, None]  # each pair once
        offline, unwritable = both[:, :, 0].ravel(), both[:, :, 1].ravel()
        # By unwritable, then offline partitions, then ids: the first of equal ones in the order of pairs.
        rank = unwritable * (len(self.positions) + 1) + offline
        found = np.flatnonzero(rank)
        if len(found) > WORST_PAIRS:
            least = np.partition(rank[found], -WORST_PAIRS)[-WORST_PAIRS]
            above, equal = found[rank[found] > least], found[rank[found] == least]
            found = np.concatenate([above, equal[: WORST_PAIRS - len(above)]])
        worst = found[np.argsort(-rank[found], kind="stable")].tolist()
        ids: list[int] = brokers.ids[live].tolist()
        return PairLosses(
            pairs=len(live) * (len(live) - 1) // 2,
            unwritable_pairs=int(np.count_nonzero(unwritable)) if is_known else None,
            offline_pairs=int(np.count_nonzero(offline)),
            worst=[
                WorstPair((ids[one], ids[other]), int(unwritable[pair]) if is_known else None, int(offline[pair]))
                for pair in worst
                for one, other in [divmod(pair, len(live))]
            ],
        )


def loss_counts(counts: Int64s, *, is_known: bool) -> list[LossCounts]:
    """The records of (groups, 5) counts; without `is_known`, `min.insync.replicas` is unknown for all partitions."""
    return [
        LossCounts(offline, unwritable if is_known else None, at_min if is_known else None, moved, fewer)
        for offline, unwritable, at_min, moved, fewer in counts.tolist()
    ]


LEAST_FACTOR = 2
"""With fewer replicas, the loss of one broker makes a partition unavailable."""


@dataclass(frozen=True, slots=True, eq=False)
class LoweredFactors:
    """Partitions of a topic whose replication factor is lowered too far.

    Parameters
    ----------
    rows : (lowered,) int64 indices of the partitions. partitions : of the topic's reassigned ones.
    smallest : the smallest new factor. bounds : the undershot limits, in words.
    """

    rows: Int64s = field(repr=False)
    partitions: int
    smallest: int
    bounds: tuple[str, ...]

    def detail(self, topic: str) -> str:
        """The finding in a sentence."""
        return (
            f"{len(self.rows)} of {self.partitions} partitions of {topic} get fewer replicas, down to {self.smallest}: "
            f"below {' and '.join(self.bounds)}"
        )


def lowered_factors(before: Int32s, after: Int32s, *, largest_of_topic: int = 0) -> LoweredFactors:
    """Find the partitions that get fewer replicas than before, and fewer than either of two bounds.

    Parameters
    ----------
    before, after : (partitions, any width) int32 replicas, padded. largest_of_topic : the largest factor of the topic's
        other partitions.

    Examples
    --------
    >>> lists = np.array([[1, 2, 3]], np.int32), np.array([[1, -1, -1]], np.int32)
    >>> lowered_factors(*lists).detail("orders")
    '1 of 1 partitions of orders get fewer replicas, down to 1: below 2 (the loss of one broker takes them offline)'
    """
    old, new = factors_of(before), factors_of(after)
    bounds = (
        (LEAST_FACTOR, f"{LEAST_FACTOR} (the loss of one broker takes them offline)"),
        (largest_of_topic, f"the {largest_of_topic} replicas of other partitions of the topic"),
    )
    rows = np.flatnonzero((new < old) & (new < max(bound for bound, _ in bounds)))
    smallest = int(new[rows].min(initial=old.max(initial=0)))
    below = tuple(words for bound, words in bounds if smallest < bound)
    return LoweredFactors(rows, len(old), smallest, below)
