"""The brokers of a plan after some of its batches."""

from dataclasses import dataclass, field

import numpy as np

from app.core.measures.transfers import Transfers
from app.core.model import NO_REPLICA, Int64s
from app.core.replica_lists import not_among, per_broker
from app.services.reassignment import batches_of
from app.store.records import PlanHead

MOST_BROKERS = 300


@dataclass(frozen=True, slots=True)
class BrokerState:
    """Replicas of a broker before the plan, after the batches, and at the end."""

    broker: int
    before: int
    now: int
    after: int

    @property
    def share(self) -> float:
        """How much of its change is done; 1 if nothing changes."""
        return (
            1.0
            if self.after == self.before
            else min(1.0, max(0.0, (self.now - self.before) / (self.after - self.before)))
        )


@dataclass(frozen=True, slots=True)
class BatchStates:
    """The state after some batches: partitions changed and replicas copied so far, and the brokers that change."""

    partitions: int
    replicas: int
    brokers: list[BrokerState] = field(repr=False)


def states_after(head: PlanHead, transfers: Transfers, batch: int) -> BatchStates | None:
    """The state of a reassignment after that many batches; None if it has none.

    Parameters
    ----------
    transfers : what the plan moves of its cluster.
    """
    steps = batches_of(head)
    if not len(steps):
        return None
    done = int(steps.offsets[min(batch, len(steps))])
    ids = np.unique(np.concatenate([steps.before.ravel(), steps.after.ravel()]))
    ids = ids[ids != NO_REPLICA]
    counts = zip(transfers.brokers, transfers.before.replicas.tolist(), strict=True)
    before = {broker.id: count for broker, count in counts}

    def change(stop: int) -> Int64s:
        """(brokers,) int64 replicas that the first steps add, less those that they remove."""
        after, earlier = (np.searchsorted(ids, lists[:stop]) for lists in (steps.after, steps.before))
        is_after, is_earlier = steps.after[:stop] != NO_REPLICA, steps.before[:stop] != NO_REPLICA
        gained = per_broker(np.where(is_after, after, NO_REPLICA).astype(np.int32), len(ids))
        return gained - per_broker(np.where(is_earlier, earlier, NO_REPLICA).astype(np.int32), len(ids))

    now, end = change(done), change(len(steps.after))
    states = [
        BrokerState(broker, had, had + gained, had + in_all)
        for broker, gained, in_all in zip(ids.tolist(), now.tolist(), end.tolist(), strict=True)
        for had in (before.get(broker, 0),)
    ]
    keys = steps.topic_of[:done].astype(np.int64) << 32 | steps.partition_ids[:done]
    copied = int(np.count_nonzero(not_among(steps.after[:done], steps.before[:done])))
    return BatchStates(len(np.unique(keys)), copied, states[:MOST_BROKERS])
