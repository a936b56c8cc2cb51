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
from typing import Self

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions
from app.core.groups.arrays.partition_table import PartitionOwners
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
    metadata : what the leader knows of all subscribed topics.

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
    revokes = False
    for row, claimant in claims.current.items():
        if group.topics[group.topic_of[row]] in group.subscribed[claimant]:
            owner[row] = claimant
        else:
            revokes = True
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
    balance.run(order, order[~is_owned], keeps=bool(is_owned.any()), revokes=revokes)
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
    members : in the order of their numbers. number_of : of each member in the listed order.
    subscribed : of each member, the topics that it names.
    topics : subscribed topics that exist, by name. starts : (topics + 1,) int64, the first row of each.
    topic_of : (rows,) int64.
    class_of_topic : (topics,) int64: topics of one class have the same subscribers.
    subscribers : of each class, ascending numbers of members.
    sizes : (members,) int64 partitions of subscribed topics.
    is_equal : whether all members list the same existing topics in the same order.
    """

    members: Sequence[Member]
    number_of: Sequence[int]
    subscribed: Sequence[frozenset[str]] = field(repr=False)
    topics: Sequence[str]
    starts: Int64s = field(repr=False)
    topic_of: Int64s = field(repr=False)
    class_of_topic: Int64s = field(repr=False)
    subscribers: Sequence[Int64s] = field(repr=False)
    sizes: Int64s = field(repr=False)
    is_equal: bool

    @classmethod
    def of(cls, members: Sequence[Member], metadata: GroupMetadata) -> Self:
        order = sorted(range(len(members)), key=lambda index: members[index].id)
        number_of = np.empty(len(members), np.int64)
        number_of[order] = np.arange(len(members))
        by_number = [members[index] for index in order]
        counts = {name: len(topic.replicas) for name, topic in metadata.topics.items() if len(topic.replicas)}
        lists = {member.topics: tuple(name for name in member.topics if name in counts) for member in members}
        subscribed = {names: frozenset(names) for names in lists}
        topics = sorted(frozenset().union(*lists.values()))
        for name in topics:
            if name in _INTERNAL_TOPICS:
                detail = f"kafka-python's sticky assignor fails if a member subscribes to the internal topic {name}"
                raise AssignorLosesCount(detail, kafka=KafkaError("KeyError"), path=("members",))
        subscribers: dict[str, list[int]] = {name: [] for name in topics}
        for number, member in enumerate(by_number):
            for name in lists[member.topics]:
                subscribers[name].append(number)
        class_of: dict[tuple[int, ...], int] = {}
        class_of_topic = [class_of.setdefault(tuple(subscribers[name]), len(class_of)) for name in topics]
        sizes = np.array([counts[name] for name in topics], np.int64)
        size_of = {kept: sum(counts[name] for name in kept) for kept in set(lists.values())}
        return cls(
            by_number,
            number_of.tolist(),
            [subscribed[member.topics] for member in by_number],
            topics,
            np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            np.repeat(np.arange(len(topics)), sizes),
            np.array(class_of_topic, np.int64),
            [np.array(numbers, np.int64) for numbers in class_of],
            np.array([size_of[lists[member.topics]] for member in by_number], np.int64),
            len(size_of) == 1,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Claims:
    """The claims to existing partitions of subscribed topics, by row, in the order in which rows are first claimed.

    Parameters
    ----------
    current : the member of the newest generation. previous : that of the second newest, of rows that have one.
    are_any : whether members claim anything, existing or not.
    """

    current: Mapping[int, int]
    previous: Mapping[int, int]
    are_any: bool


def _claims(group: _Group) -> _Claims:
    stated = {number: group.members[number].generation_id for number in group.number_of}
    generations = {number: generation for number, generation in stated.items() if generation is not None}
    numbers, claiming = list(generations), [group.members[number] for number in generations]
    owned = MemberPartitions.owned(claiming, {topic: index for index, topic in enumerate(group.topics)})
    owned = owned.select(owned.exist(np.diff(group.starts)))
    claimants: dict[int, dict[int, int]] = {}
    rows = (group.starts[owned.topics] + owned.partitions).tolist()
    for row, number in zip(rows, (numbers[place] for place in owned.members.tolist()), strict=True):
        generation = generations[number]
        by_generation = claimants.setdefault(row, {})
        # The library tests the generation for truth, so that 0 does not protect the first claim.
        if not generation or generation not in by_generation:
            by_generation[generation] = number
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
