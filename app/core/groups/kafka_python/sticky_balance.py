"""Assigning and balancing of kafka-python's sticky assignor, on partitions and members that are numbered.

The library looks at every partition and member for each move. Here, counts of partitions decide: topics with the same
subscribers are one class, and the result of a test holds until a partition moves.

If a partition moves although another one of its topic has moved the other way between the two members, the other one
moves back instead. If the partition itself had moved before, both move back; before kafka-python 3.0.12 the partition
stays where it is.

Source: `StickyAssignmentExecutor` and `PartitionMovements` of kafka-python 3.0.12.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.model import NO_MEMBER, Int64s
from app.errors.kafka import AssignorLosesCount, KafkaError

_Pair = tuple[int, int]


class Balance:
    """The assignment while it is balanced.

    Parameters
    ----------
    owner : (rows,) int64 member of each partition, or `NO_MEMBER`; changed by `run`.
    topic_of : (rows,) int64. class_of_topic : (topics,) int64.
    subscribers : of each class, ascending members. sizes : (members,) int64 partitions that a member could have.
    previous : by row, the member that claimed it in an older generation.
    """

    def __init__(
        self,
        *,
        owner: Int64s,
        topic_of: Int64s,
        class_of_topic: Int64s,
        subscribers: Sequence[Int64s],
        sizes: Int64s,
        previous: Mapping[int, int],
    ) -> None:
        self.owner = owner
        self.arbitrary_choices = 0
        self._topic_of = topic_of
        self._class_of = class_of_topic[topic_of]
        self._subscribers = subscribers
        self._sizes = sizes
        self._previous = previous
        self._counts = np.bincount(owner[owner != NO_MEMBER], minlength=len(sizes)).astype(np.int64)
        self._is_active = np.ones(len(sizes), np.bool_)
        self._is_balanced: bool | None = None
        # A member and a row that it could take, as long as it has fewer partitions than the row's owner.
        self._movable: tuple[int, int] | None = None
        self._fewest: dict[int, int] = {}
        # Members outside the balancing that the library looks up: they count as members without partitions.
        self._looked_up: set[int] = set()
        self._pair_of: dict[int, _Pair] = {}
        self._moved: dict[int, dict[_Pair, set[int]]] = {}

    def run(self, order: Int64s, unassigned: Int64s, *, keeps: bool, revokes: bool) -> None:
        """Assign the unassigned rows in order, then balance.

        Parameters
        ----------
        order : (rows,) int64, the rows in the order in which they are moved; unassigned : those without an owner.
        keeps : whether members own partitions; if so, moves are undone unless they improve the balance.
        revokes : whether a member owns a partition to which it does not subscribe; then new partitions are not moved
            first.
        """
        for row in unassigned.tolist():
            self._give(row, self._fewest_of(int(self._class_of[row])))
        is_shared = np.array([len(members) > 1 for members in self._subscribers], np.bool_)[self._class_of]
        shared_members = np.zeros(len(self._sizes), np.bool_)
        shared_members[self.owner[is_shared]] = True
        self._is_active = (self._counts < self._sizes) | shared_members
        before, counts_before = self.owner.copy(), self._counts.copy()
        if not revokes:
            self._reassign(unassigned[is_shared[unassigned]].tolist())
        moves = self._reassign(order[is_shared[order]].tolist())
        if keeps and moves and self._score(self._counts, len(self._looked_up)) >= self._score(counts_before, 0):
            self.owner, self._counts = before, counts_before

    def _reassign(self, rows: Sequence[int]) -> bool:
        """Move rows to members that have two less, until the group is balanced or nothing moves."""
        has_moved = False
        while True:
            is_modified = False
            for row in rows:
                if self._balanced():
                    break
                count = int(self._counts[self.owner[row]])
                had = self._previous.get(row)
                if had is not None and count > self._looked_up_count(had) + 1:
                    self._move_instead(row, had)
                elif count > self._counts[fewest := self._fewest_of(int(self._class_of[row]))] + 1:
                    self._move_instead(row, fewest)
                else:
                    continue
                is_modified = has_moved = True
            if not is_modified:
                return has_moved

    def _looked_up_count(self, member: int) -> int:
        if self._is_active[member]:
            return int(self._counts[member])
        self._looked_up.add(member)
        return 0

    def _balanced(self) -> bool:
        if self._is_balanced is None:
            self._is_balanced = self._is_within_one() or not self._could_move()
        return self._is_balanced

    def _is_within_one(self) -> bool:
        counts = self._counts[self._is_active]
        return bool(counts.min() >= counts.max() - 1)

    def _could_move(self) -> bool:
        """Whether a member that could have more subscribes to a partition of a member that has more than it."""
        if len(self._subscribers) == 1:
            # Then a member could have every partition, and the method is only called if two counts differ.
            return True
        if self._movable is not None:
            member, row = self._movable
            if self._counts[member] != self._sizes[member] and self._counts[member] < self._counts[self.owner[row]]:
                return True
        counts = self._counts[self.owner]
        by_count = np.argsort(counts, kind="stable")
        # Of repeated indices the last assignment counts: the row of each class whose owner has the most.
        row_of = np.zeros(len(self._subscribers), np.int64)
        row_of[self._class_of[by_count]] = by_count
        could_have_more = self._is_active & (self._counts != self._sizes)
        for number, members in enumerate(self._subscribers):
            receivers = members[could_have_more[members]]
            if not len(receivers):
                continue
            receiver = receivers[np.argmin(self._counts[receivers])]
            if self._counts[receiver] < counts[row_of[number]]:
                self._movable = int(receiver), int(row_of[number])
                return True
        return False

    def _fewest_of(self, number: int) -> int:
        """The subscriber of a class with the fewest partitions, of several the one with the least id."""
        if number not in self._fewest:
            members = self._subscribers[number]
            self._fewest[number] = int(members[np.argmin(self._counts[members])])
        return self._fewest[number]

    def _move_instead(self, row: int, receiver: int) -> None:
        """Move the row, or one of its topic that moved the other way between the two members before."""
        sender = int(self.owner[row])
        moved = self._instead_of(row, sender, receiver)
        substitute_owner = int(self.owner[moved])
        if substitute_owner != sender:
            # Both moved before: the row goes back, too, so that the sender has one less.
            self._move(row, substitute_owner)
        self._move(moved, receiver)

    def _instead_of(self, row: int, sender: int, receiver: int) -> int:
        source, _ = self._pair_of.get(row, (sender, sender))
        candidates = self._moved.get(int(self._topic_of[row]), {}).get((receiver, source))
        if not candidates:
            return row
        self.arbitrary_choices += len(candidates) > 1
        return min(candidates)

    def _move(self, row: int, receiver: int) -> None:
        sender = int(self.owner[row])
        if sender == receiver or not self._is_active[receiver]:
            detail = "kafka-python's sticky assignor fails: it looks up a member that it has removed"
            raise AssignorLosesCount(detail, kafka=KafkaError("KeyError"), path=("members",))
        pairs = self._moved.setdefault(int(self._topic_of[row]), {})
        source = sender
        if row in self._pair_of:
            pair = self._pair_of.pop(row)
            pairs[pair].remove(row)
            source = pair[0]
        if source != receiver:
            self._pair_of[row] = source, receiver
            pairs.setdefault((source, receiver), set()).add(row)
        self._counts[sender] -= 1
        self._give(row, receiver)

    def _give(self, row: int, receiver: int) -> None:
        self.owner[row] = receiver
        self._counts[receiver] += 1
        self._is_balanced = None
        self._fewest.clear()

    def _score(self, counts: Int64s, looked_up: int) -> int:
        """The sum of differences between all pairs of members that take part."""
        ascending = np.sort(np.concatenate([np.zeros(looked_up, np.int64), counts[self._is_active]]))
        places = 2 * np.arange(len(ascending)) - len(ascending) + 1
        return int((places * ascending).sum())
