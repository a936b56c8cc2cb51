"""The fairest loads of a group: the sets of members that share topics, and the loads of each set.

Among all assignments, the fairest have the lexicographically smallest loads in descending order: the smallest largest
load, then the smallest second largest, and so on. They also have the smallest sum of squared loads, and no chain of
moves (from a to b, from b to c …) leads from a member to one with at least two partitions fewer. Members that all
subscribe to the same topics then differ by at most one; if subscriptions differ, exactly those do that could share.

All fairest assignments have one structure: the members fall into *shares*, each with its own topics, such that a
partition is read within its share and every member of a share reads `high` or `high` − 1 partitions. Conversely, every
assignment within the shares and these bounds is among the fairest. Which members read `high` is free, so that locality
and stickiness can choose.

Complexity: at most two maximum flows for each share, over classes of topics and members.

Source: Harvey, Ladner, Lovász and Tamir, "Semi-matchings for bipartite graphs and load balancing" (2006);
Frank and Murota, "Decreasing minimization on M-convex sets" (2018), for the structure (the canonical partition).
"""

from dataclasses import dataclass

import numpy as np

from app.core.flow import max_flow
from app.core.groups.arrays.subscriptions import SubscriptionClasses
from app.core.model import Bools, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """Members that share some topics among themselves in the fairest loads.

    Parameters
    ----------
    topic_classes, member_classes : (n,) int64 numbers as in `SubscriptionClasses`.
    partitions, members : their numbers.
    """

    topic_classes: Int64s
    member_classes: Int64s
    partitions: int
    members: int

    @property
    def high(self) -> int:
        """The largest load in partitions."""
        return -(-self.partitions // self.members)

    @property
    def low(self) -> int:
        """The smallest load in partitions; equal to `high` if the members divide the partitions."""
        return self.partitions // self.members


def fair_shares(classes: SubscriptionClasses) -> tuple[Share, ...]:
    """Divide topics and members into their shares, exactly, by maximum flows over the classes.

    A set of topics and members is one share if all its loads can be its average, rounded up or down. Otherwise the
    minimum cut at that load separates members that must read at least as much from those that must read at most as
    much. No fairest assignment crosses the cut, so that each side is divided on its own.

    Returns
    -------
    Shares by descending `high`, then by their first member class. Together they contain every class once.
    """
    whole_group = _share(classes, np.arange(len(classes.partitions)), np.arange(len(classes.members)))
    undivided = [whole_group] if len(classes.partitions) else []
    shares = []
    while undivided:
        whole = undivided.pop()
        split = _split(classes, whole)
        if split is None:
            shares.append(whole)
        else:
            undivided.extend(split)
    return tuple(sorted(shares, key=lambda share: (-share.high, share.member_classes[0])))


def _share(classes: SubscriptionClasses, topics: Int64s, members: Int64s) -> Share:
    return Share(topics, members, int(classes.partitions[topics].sum()), int(classes.members[members].sum()))


def _split(classes: SubscriptionClasses, whole: Share) -> tuple[Share, Share] | None:
    """Two sides between which no partition moves, or None if the whole is one share."""
    if not whole.partitions or classes.subscribes[np.ix_(whole.topic_classes, whole.member_classes)].all():
        return None
    # If all partitions fit at the rounded-up average, and every member is full at one less, the loads in between are
    # possible. The cut of the first test that fails is the split.
    for load in (whole.high, whole.high - 1):
        topic_below, member_below = _below(classes, whole, load)
        if member_below.any() and not member_below.all():
            below = _share(classes, whole.topic_classes[topic_below], whole.member_classes[member_below])
            above = _share(classes, whole.topic_classes[~topic_below], whole.member_classes[~member_below])
            return above, below
    return None


def _below(classes: SubscriptionClasses, whole: Share, load: int) -> tuple[Bools, Bools]:
    """Topics and members that could take more, directly or by a chain, if no member reads more than `load`.

    Returns
    -------
    Two bool arrays, over the topic and the member classes of the whole. If the members are all True or all False,
    there is no split.
    """
    topics, members = whole.topic_classes, whole.member_classes
    topic_at, member_at = np.nonzero(classes.subscribes[np.ix_(topics, members)])
    source, sink = len(topics) + len(members), len(topics) + len(members) + 1
    tails = [np.full(len(topics), source), topic_at, np.arange(len(members)) + len(topics)]
    heads = [np.arange(len(topics)), member_at + len(topics), np.full(len(members), sink)]
    # Arcs from topics to members are never full, so that the cut does not contain them.
    unlimited = np.full(len(topic_at), whole.partitions + 1)
    capacities = [classes.partitions[topics], unlimited, classes.members[members] * load]
    flow = max_flow(
        np.concatenate(tails).astype(np.int32),
        np.concatenate(heads).astype(np.int32),
        np.concatenate(capacities),
        source=source,
        sink=sink,
    )
    return flow.is_sink_side[: len(topics)], flow.is_sink_side[len(topics) : source]
