"""The sticky assignor of kafka-python: balanced shares that keep as many owned partitions as possible, without racks.

The library ports the sticky assignor of Kafka 2.3, before Kafka had a builder of its own for equal subscriptions and
before racks. Where it differs from Kafka's of today:

- if two members of one generation claim a partition, the first of them owns it (of generation 0 the last);
- subscriptions are equal only if members list the same topics in the same order;
- a partition is assigned to the subscriber with the fewest partitions, by member id if there are several;
- partitions that do not exist are ignored, and topics that do not exist do not count as subscriptions.

Phases: claims, newest generation first, of subscribed topics are kept; the other partitions are assigned in order; then
`sticky_balance` moves partitions from members to others that have two less.

Two choices have no defined order: which of several partitions that were owned before by another member is moved first,
and which of several moved partitions of a topic moves back. The library takes them from sets, whose order depends on
Python's hashes of texts, which are random in each process unless `PYTHONHASHSEED` is set. This module takes the first
by topic and partition and counts such choices in `GroupAssignment.arbitrary_choices`; without any, it is unique.

Versions before 3.0.12 differ in one step of the balancing, see `sticky_balance`.

Source: `kafka.coordinator.assignors.sticky.sticky_assignor.StickyPartitionAssignor` of kafka-python 3.0.12; KIP-54.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Self

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions
from app.core.groups.arrays.partition_table import PartitionOwners
from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.kafka_python.sticky_balance import Balance
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.kafka_versions import KafkaRange, ReplayedLibrary
from app.core.model import NO_MEMBER, Int64s
from app.errors.kafka import AssignorLosesCount, KafkaError, NoMembers

REPLAYS = ReplayedLibrary(
    "kafka-python",
    "kafka.coordinator.assignors.sticky.sticky_assignor.StickyPartitionAssignor",
    KafkaRange("3.0.12", "3.0.12"),
)
_INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `StickyPartitionAssignor` does.

    Parameters
    ----------
    members : in the order in which the coordinator lists them. `owned` and `generation_id` as in the user data; without
        a generation there is no user data, and the member owns nothing.
    metadata : the leader's metadata of all subscribed topics.

    Returns
    -------
    Every member has a list, by topic name and partition.

    Raises
    ------
    NoMembers : if there are none; the library's code fails.
    AssignorLosesCount : if the library's code fails: on an internal topic, or if a partition would move back to a
        member that takes no part in the balancing.

    Examples
    --------
    >>> import numpy as np
    >>> from app.core.groups.model import GroupMetadata, Member, Owned, TopicMetadata
    >>> t = TopicMetadata("t", np.zeros((4, 1), np.int32))
    >>> owned = (Owned("t", np.array([1, 2, 3], np.int32)),)
    >>> members = [Member("C0", ("t",), owned=owned, generation_id=1), Member("C1", ("t",))]
    >>> answer = assign(members, GroupMetadata({}, {"t": t}))
    >>> answer.offsets.tolist(), answer.partitions.tolist()
    ([0, 2, 4], [1, 2, 0, 3])
    """
    if not members:
        raise NoMembers("a group needs 1 member or more; 0 given", kafka=KafkaError("TypeError"), path=("members",))
    group = _Group.of(members, metadata)
    claims = _claims(group)
    owner = np.full(group.starts[-1], NO_MEMBER, np.int64)
    rows, claimants = np.array([*claims.current], np.int64), np.array([*claims.current.values()], np.int64)
    keeps = group.subscriptions.is_subscribed(claimants, group.number_of_topic[group.topic_of[rows]])
    owner[rows[keeps]] = claimants[keeps]
    order, choices = _order(group, claims)
    balance = Balance(
        owner=owner,
        topic_of=group.topic_of,
        class_of_topic=group.class_of_topic,
        subscribers=group.subscribers,
        sizes=group.sizes,
        previous=claims.previous,
    )
    is_owned = owner[order] != NO_MEMBER
    balance.run(order, order[~is_owned], keeps=bool(is_owned.any()), revokes=not keeps.all())
    listed_at = np.empty(len(members), np.int32)
    listed_at[group.number_of] = np.arange(len(members))
    owners = PartitionOwners(group.topics, group.starts[:-1], np.diff(group.starts), listed_at[balance.owner])
    assignment = owners.assignment([member.id for member in members])
    return replace(assignment, arbitrary_choices=choices + balance.arbitrary_choices)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """A group as arrays. Members are numbered by id, rows are partitions by topic name and id.

    Parameters
    ----------
    members : in the order of their numbers; they subscribe to existing topics. number_of : of each member in the listed
        order.
    topics : subscribed topics that exist, by name. starts : (topics + 1,) int64, the first row of each.
    topic_of : (rows,) int64. number_of_topic : (topics,) int64, the index of each in `subscriptions`.
    class_of_topic : (topics,) int64: topics of one class have the same subscribers.
    subscribers : of each class, ascending numbers of members.
    sizes : (members,) int64 partitions of subscribed topics.
    is_equal : whether all members list the same existing topics in the same order.
    """

    members: Sequence[Member]
    number_of: Sequence[int]
    topics: Sequence[str]
    starts: Int64s = field(repr=False)
    topic_of: Int64s = field(repr=False)
    subscriptions: Subscriptions
    number_of_topic: Int64s = field(repr=False)
    class_of_topic: Int64s = field(repr=False)
    subscribers: Sequence[Int64s] = field(repr=False)
    sizes: Int64s = field(repr=False)
    is_equal: bool

    @classmethod
    def of(cls, members: Sequence[Member], metadata: GroupMetadata) -> Self:
        counts = {name: len(topic.replicas) for name, topic in metadata.topics.items() if len(topic.replicas)}
        existing = {names: tuple(filter(counts.__contains__, names)) for names in {member.topics for member in members}}
        listed = (replace(member, topics=existing[member.topics]) for member in members)
        by_number = sorted(listed, key=attrgetter("id"))
        number_of = {member.id: number for number, member in enumerate(by_number)}
        subscriptions = Subscriptions.of(by_number)
        internal = sorted(_INTERNAL_TOPICS.intersection(subscriptions.topics))
        if internal:
            detail = f"kafka-python's sticky assignor fails if a member subscribes to the internal topic {internal[0]}"
            raise AssignorLosesCount(detail, kafka=KafkaError("KeyError"), path=("members",))
        by_name = np.array(sorted(range(len(subscriptions.topics)), key=subscriptions.topics.__getitem__), np.int64)
        topics = [subscriptions.topics[topic] for topic in by_name.tolist()]
        sizes = np.array([counts[name] for name in topics], np.int64)
        size_of_list = np.array([sum(counts[name] for name in names) for names in subscriptions.lists], np.int64)
        return cls(
            by_number,
            [number_of[member.id] for member in members],
            topics,
            np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            np.repeat(np.arange(len(topics)), sizes),
            subscriptions,
            by_name,
            subscriptions.subscriber_set_of_topic[by_name].astype(np.int64),
            subscriptions.subscriber_sets(np.arange(len(members))),
            size_of_list[subscriptions.list_of_member],
            len(subscriptions.lists) == 1,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Claims:
    """The claims to existing partitions of subscribed topics, by row, in the order in which rows are first claimed.

    Parameters
    ----------
    current : the member of the newest generation. previous : of the second newest, for rows that have one.
    are_any : whether members claim anything, existing or not.
    """

    current: Mapping[int, int]
    previous: Mapping[int, int]
    are_any: bool


def _claims(group: _Group) -> _Claims:
    numbers = [number for number in group.number_of if group.members[number].generation_id is not None]
    claiming = [group.members[number] for number in numbers]
    owned = MemberPartitions.owned(claiming, {topic: index for index, topic in enumerate(group.topics)})
    owned = owned.select(owned.exist(np.diff(group.starts)))
    claimants: dict[int, dict[int, int]] = {}
    rows = (group.starts[owned.topics] + owned.partitions).tolist()
    for row, place in zip(rows, owned.members.tolist(), strict=True):
        generation = claiming[place].generation_id or 0
        by_generation = claimants.setdefault(row, {})
        # The library tests the generation for truth, so that 0 does not protect the first claim.
        if not generation or generation not in by_generation:
            by_generation[generation] = numbers[place]
    newest = {row: sorted(by_generation, reverse=True) for row, by_generation in claimants.items()}
    return _Claims(
        {row: claimants[row][generations[0]] for row, generations in newest.items()},
        {row: claimants[row][generations[1]] for row, generations in newest.items() if len(generations) > 1},
        any(len(run.partitions) for member in claiming for run in member.owned),
    )


def _order(group: _Group, claims: _Claims) -> tuple[Int64s, int]:
    """Rows in the order in which they are assigned and moved, and the number of arbitrary choices in it."""
    rows = np.arange(group.starts[-1])
    if not (claims.are_any and group.is_equal):
        # By the number of subscribers; a stable sort leaves equal ones by topic and partition.
        popularity = np.array([len(numbers) for numbers in group.subscribers], np.int64)
        return rows[np.argsort(popularity[group.class_of_topic[group.topic_of]], kind="stable")], 0
    others: list[list[int]] = [[] for _ in group.members]
    moved_before: list[list[int]] = [[] for _ in group.members]
    for row, member in claims.current.items():
        (moved_before if row in claims.previous else others)[member].append(row)
    for candidates in moved_before:
        candidates.sort(reverse=True)
    # From the member with the most partitions, of several the one with the greatest id.
    queue = [(-len(others[number]) - len(moved_before[number]), -number) for number in range(len(group.members))]
    heapify(queue)
    order, choices = [], 0
    while queue:
        size, negated = heappop(queue)
        if size == 0:
            continue
        candidates = moved_before[-negated] or others[-negated]
        choices += len(moved_before[-negated]) > 1
        order.append(candidates.pop())
        heappush(queue, (size + 1, negated))
    is_listed = np.zeros(len(rows), np.bool_)
    is_listed[order] = True
    return np.concatenate([np.array(order, np.int64), rows[~is_listed]]), choices
