"""Who subscribes to what, told once for all members of one subscription and for all topics of the same members."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from app.core.groups.model import Member
from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Audiences:
    """The subscriptions of a group.

    A *kind* is the tuple of topics that some members gave; an *audience* is the members that some topics have in
    common. Thousands of members of one kind cost what a single one does.

    Parameters
    ----------
    topics : every subscribed topic once, in the order in which the members name them.
    kinds : each kind's topics, as indices into `topics`, in its own order and without repetitions.
    kind_of : (members,) int32. audience_of : (topics,) int32.
    kinds_in : of each audience, the kinds that it consists of, ascending.
    """

    topics: tuple[str, ...]
    kinds: tuple[Int32s, ...] = field(repr=False)
    kind_of: Int32s = field(repr=False)
    audience_of: Int32s = field(repr=False)
    kinds_in: tuple[Int32s, ...] = field(repr=False)

    @classmethod
    def of(cls, members: Sequence[Member]) -> Self:
        """Read the members' subscriptions."""
        kind_of, kinds = _kinds(members)
        topics = tuple(dict.fromkeys(chain.from_iterable(kinds)))
        index_of = {topic: index for index, topic in enumerate(topics)}
        indices = tuple(np.fromiter(map(index_of.__getitem__, dict.fromkeys(kind)), np.int32) for kind in kinds)
        audience_of, kinds_in = _audiences(indices, len(topics))
        return cls(topics, indices, kind_of, audience_of, kinds_in)

    def members_of(self, audience: int, order: Int64s) -> Int64s:
        """The members of an audience, as they come in `order`, which holds indices of members."""
        is_in = np.zeros(len(self.kinds), np.bool_)
        is_in[self.kinds_in[audience]] = True
        members: Int64s = order[is_in[self.kind_of[order]]]
        return members

    def reads(self, members: Int64s, topics: Int64s) -> NDArray[np.bool_]:
        """Whether each of some members subscribes to the topic beside it: arrays of one length, of indices."""
        sizes = [len(kind) for kind in self.kinds]
        asked = self.kind_of[members].astype(np.int64) * len(self.topics) + topics
        said = np.repeat(np.arange(len(sizes), dtype=np.int64) * len(self.topics), sizes)
        return np.isin(asked, said + np.concatenate([np.empty(0, np.int64), *self.kinds]))


def _kinds(members: Sequence[Member]) -> tuple[Int32s, tuple[tuple[str, ...], ...]]:
    """The kind of each member, and the kinds."""
    kind_of: dict[tuple[str, ...], int] = {}
    # Hashing a tuple of thousands of topics costs; members often share one.
    known: dict[int, int] = {}
    kinds = []
    for member in members:
        kind = known.get(id(member.topics))
        if kind is None:
            kind = known[id(member.topics)] = kind_of.setdefault(member.topics, len(kind_of))
        kinds.append(kind)
    return np.array(kinds, np.int32), tuple(kind_of)


def _audiences(kinds: Sequence[Int32s], n_topics: int) -> tuple[Int32s, tuple[Int32s, ...]]:
    """The audience of each topic, and the kinds of each audience."""
    named = np.concatenate([np.empty(0, np.int32), *kinds])
    by_topic = np.argsort(named, kind="stable")
    readers = np.repeat(np.arange(len(kinds), dtype=np.int32), [len(kind) for kind in kinds])[by_topic]
    number_of: dict[bytes, int] = {}
    audience_of = []
    start = 0
    for end in np.cumsum(np.bincount(named, minlength=n_topics)).tolist():
        audience_of.append(number_of.setdefault(readers[start:end].tobytes(), len(number_of)))
        start = end
    return np.array(audience_of, np.int32), tuple(np.frombuffer(kinds_in, np.int32) for kinds_in in number_of)
