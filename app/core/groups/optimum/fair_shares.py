"""The fairest loads a group can have: which members share with which, and how many partitions each of them reads.

Among all assignments, the fairest have the lexicographically smallest loads in descending order: the largest load is as
small as it can be, then the second largest, and so on. They are also those of the smallest sum of squared loads, and
those in which no chain of handovers (a gives one to b, which gives one to c …) leads from a member to another that has
at least two fewer. Members that all read the same topics then differ by one at most; with unequal readership,
exactly those do that could share.

All fairest assignments have one structure in common: the members fall into *shares*, each with its own topics, so that
a partition is read within its share, and every member of a share reads `high` or `high` − 1 partitions. Conversely,
every assignment within the shares and these bounds is among the fairest. Which members read the one more is free, and
that is what locality and stickiness can choose.

Source: Harvey, Ladner, Lovász and Tamir, "Semi-matchings for bipartite graphs and load balancing" (2006);
Frank and Murota, "Decreasing minimization on M-convex sets" (2018), for the structure (the canonical partition).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.flow import max_flow
from app.core.groups.arrays.readership import Readership
from app.core.model import Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """Members that share some topics among themselves, in the fairest loads.

    Parameters
    ----------
    topic_classes, member_classes : (n,) int64 numbers as in `Readership`.
    """

    topic_classes: Int64s
    member_classes: Int64s
    partitions: int
    members: int

    @property
    def high(self) -> int:
        """The largest load within."""
        return -(-self.partitions // self.members)

    @property
    def low(self) -> int:
        """The smallest load within; equal to `high` where the partitions divide evenly."""
        return self.partitions // self.members


def fair_shares(readers: Readership) -> tuple[Share, ...]:
    """Divide topics and members into their shares, exactly, by maximum flows over the classes.

    A set of topics and members is one share if its loads can all be its average, rounded up or down. Otherwise the
    minimum cut at that load parts those who must read at least as much from those who must read at most as much:
    no fairest assignment hands a partition across, so each side is divided on its own.

    Returns
    -------
    Shares by descending `high`, then by their first member class. Together they hold every class once.
    """
    everything = _share(readers, np.arange(len(readers.partitions)), np.arange(len(readers.members)))
    undivided = [everything] if len(readers.partitions) else []
    shares = []
    while undivided:
        whole = undivided.pop()
        split = _split(readers, whole)
        if split is None:
            shares.append(whole)
        else:
            undivided.extend(split)
    return tuple(sorted(shares, key=lambda share: (-share.high, share.member_classes[0])))


def _share(readers: Readership, topics: Int64s, members: Int64s) -> Share:
    return Share(topics, members, int(readers.partitions[topics].sum()), int(readers.members[members].sum()))


def _split(readers: Readership, whole: Share) -> tuple[Share, Share] | None:
    """Two sides between which nothing is handed over, or None where the whole is one share."""
    if not whole.partitions or readers.reads[np.ix_(whole.topic_classes, whole.member_classes)].all():
        return None
    # At the rounded-up average everything may find a place, and at one less no member may be left short: then the
    # loads in between can be had. Of each test that fails, the cut is the split.
    for load in (whole.high, whole.high - 1):
        topic_below, member_below = _below(readers, whole, load)
        if member_below.any() and not member_below.all():
            below = _share(readers, whole.topic_classes[topic_below], whole.member_classes[member_below])
            above = _share(readers, whole.topic_classes[~topic_below], whole.member_classes[~member_below])
            return above, below
    return None


def _below(readers: Readership, whole: Share, load: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which topics and members could still take more, directly or by a chain, where no member reads over `load`.

    If everything finds a place with no member left over, the members are all below or none is: there is no split.
    """
    topics, members = whole.topic_classes, whole.member_classes
    topic_at, member_at = np.nonzero(readers.reads[np.ix_(topics, members)])
    source, sink = len(topics) + len(members), len(topics) + len(members) + 1
    tails = [np.full(len(topics), source), topic_at, np.arange(len(members)) + len(topics)]
    heads = [np.arange(len(topics)), member_at + len(topics), np.full(len(members), sink)]
    # What leads from topics to members must never be full, so that the cut does not pass between them.
    unlimited = np.full(len(topic_at), whole.partitions + 1)
    capacities = [readers.partitions[topics], unlimited, readers.members[members] * load]
    flow = max_flow(
        np.concatenate(tails).astype(np.int32),
        np.concatenate(heads).astype(np.int32),
        np.concatenate(capacities),
        source=source,
        sink=sink,
    )
    return flow.is_sink_side[: len(topics)], flow.is_sink_side[len(topics) : source]
