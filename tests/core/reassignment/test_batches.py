"""Reassignments cut into batches: within every limit, from where replicas are to where they shall be and back."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import event, given

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Int32s, padded, unpadded
from app.core.reassignment.batches.cutting import cut_batches
from app.core.reassignment.batches.model import Batches, BatchLimits, BrokerDisks, Hottest, ReassignedPartitions
from app.core.reassignment.batches.verifier import batch_violations
from app.errors.requests import BatchesOutOfDisk, MoveExceedsBatchLimit
from tests import draws as st
from tests.core.reassignment.small_reassignments import (
    all_limits,
    disks_for,
    reassignments,
    small,
    with_cordons,
    with_racks,
)
from tests.premises import reaches
from tests.profiles import costly, examples

UNLIMITED = BatchLimits(max_moves_in_per_broker=None)
FIRST, SECOND, THIRD = {0: ([0, 1], [0, 4])}, {1: ([2, 1], [2, 4])}, {2: ([3, 1], [3, 4])}
LAST = {1: ([2, 4], [4, 2])}


def shown(batches: Batches) -> list[dict[int, tuple[list[int], list[int]]]]:
    """Per batch, the lists before and after of each row."""
    return [
        {
            int(row): (before, after)
            for row, before, after in zip(
                batches.rows[batches.steps(i)],
                unpadded(batches.before[batches.steps(i)]),
                unpadded(batches.after[batches.steps(i)]),
                strict=True,
            )
        }
        for i in range(len(batches))
    ]


def path(reassigned: ReassignedPartitions, limits: BatchLimits = UNLIMITED, row: int = 0) -> list[list[int]]:
    """The lists that a row goes through."""
    batches = cut_batches(reassigned, limits)
    assert not batch_violations(reassigned, batches, limits)
    return [batch[row][1] for batch in shown(batches) if row in batch]


def order_of(batches: Batches) -> list[list[int]]:
    """Which rows are in each batch."""
    return [list(batch) for batch in shown(batches)]


def executed(lists: Int32s, batches: Batches, *, backwards: bool = False) -> list[list[int]]:
    """Where replicas are after executing the batches on the lists, or their inverses from the last to the first."""
    rows = unpadded(lists)
    for batch in reversed(shown(batches)) if backwards else shown(batches):
        for row, (before, after) in batch.items():
            rows[row] = before if backwards else after
    return rows


class TestLaws:
    @costly(300)
    @given(reassignments(), all_limits)
    def test_the_verifier_finds_nothing(self, reassigned: ReassignedPartitions, limits: BatchLimits) -> None:
        batches = cut_batches(reassigned, limits)
        assert batch_violations(reassigned, batches, limits) == []
        assert len(batches) >= batches.lower_bound

    @given(reassignments(), all_limits)
    def test_batches_lead_there_and_their_inverses_back(
        self, reassigned: ReassignedPartitions, limits: BatchLimits
    ) -> None:
        """Order included, which a cancelled reassignment does not restore. New partitions are in no batch."""
        batches = cut_batches(reassigned, limits)
        before, after = unpadded(reassigned.before), unpadded(reassigned.after)
        there = [now if was else [] for was, now in zip(before, after, strict=True)]
        assert executed(reassigned.before, batches) == there
        assert executed(padded(there), batches, backwards=True) == before

    @examples(200)
    @given(reassignments(), all_limits)
    def test_copies_are_limited_and_timed_where_they_are_sent(
        self, reassigned: ReassignedPartitions, limits: BatchLimits
    ) -> None:
        """Kafka keeps a leader until a step drops its replica; the first of the list that the step requests follows."""
        batches = cut_batches(reassigned, limits)
        preferred = [row[0] if row else NO_REPLICA for row in unpadded(reassigned.before)]
        leaders = preferred if reassigned.leaders is None else reassigned.leaders.tolist()
        leaders = [each if each >= 0 else first for each, first in zip(leaders, preferred, strict=True)]
        for number, batch in enumerate(shown(batches)):
            sent, received, replicas = Counter[int](), Counter[int](), Counter[int]()
            for row, (before, after) in batch.items():
                size = max(int(reassigned.size_bytes[row]), 0)
                for broker in set(after) - set(before):
                    sent[leaders[row]] += size
                    received[broker] += size
                    replicas[leaders[row]] += 1
                leaders[row] = leaders[row] if leaders[row] in after else after[0]
            assert max(replicas.values(), default=0) <= (limits.max_moves_out_per_broker or sum(replicas.values()))
            if batches.seconds is not None and limits.throttle_bytes_per_s is not None:
                busiest = max([0, *sent.values(), *received.values()])
                assert batches.seconds[number] == pytest.approx(busiest / limits.throttle_bytes_per_s)

    @reaches("in batches", 0.3)
    @examples(300)
    @given(st.data(), reassignments(), all_limits)
    def test_disks_are_never_too_full(
        self, data: st.DataObject, reassigned: ReassignedPartitions, limits: BatchLimits
    ) -> None:
        disks = data.draw(disks_for(reassigned))
        try:
            batches = cut_batches(reassigned, limits, disks)
        except BatchesOutOfDisk as failure:
            refusal = failure
        else:
            event("in batches")
            assert batch_violations(reassigned, batches, limits, disks) == []
            return
        missing = refusal.context["missing_bytes"]
        assert isinstance(missing, int)
        assert missing > 0

    @pytest.mark.parametrize("seed", range(4))
    def test_thousands_of_partitions_of_every_kind_keep_to_the_limits(self, seed: int) -> None:
        """Rare in random examples: several replicas that change racks, and the leader's with them."""
        random = np.random.default_rng(seed)
        lists = [random.permutation(9)[: random.integers(1, 6)].tolist() for _ in range(6000)]
        sizes = random.integers(UNKNOWN_SIZE, 100, 3000).tolist()
        reassigned = with_racks(
            small(lists[:3000], lists[3000:], size=sizes, brokers=9), random.integers(0, 5, 9).tolist()
        )
        limits = BatchLimits(max_moves_out_per_broker=3, max_bytes_in_per_broker=300, max_partitions=20)
        last, spread = limits, replace(limits, hottest=Hottest.SPREAD)
        of = {each.hottest: cut_batches(reassigned, each) for each in (last, spread)}
        assert batch_violations(reassigned, of[Hottest.LAST], last) == []
        assert batch_violations(reassigned, of[Hottest.SPREAD], spread) == []
        assert len(of[Hottest.SPREAD]) == len(of[Hottest.LAST])
        assert of[Hottest.SPREAD].moved_bytes.max() < of[Hottest.LAST].moved_bytes.max()

    @given(reassignments(), all_limits)
    def test_spread_batches_are_as_many_and_the_largest_has_no_more_bytes(
        self, reassigned: ReassignedPartitions, limits: BatchLimits
    ) -> None:
        last, even = (cut_batches(reassigned, replace(limits, hottest=each)) for each in (Hottest.LAST, Hottest.SPREAD))
        assert len(even) == len(last)
        assert even.moved_bytes.max(initial=0) <= last.moved_bytes.max(initial=0)

    def test_a_decommission_with_heavy_tailed_sizes_has_even_batches_if_they_are_spread(self) -> None:
        """One of 60 brokers is removed: most bytes are in one batch, or none has more than its share or a partition."""
        random = np.random.default_rng(0)
        others = [
            [1 + (row + shift) % 59 for shift in random.choice(range(1, 59), 2, replace=False).tolist()]
            for row in range(1000)
        ]
        before = [[0, *each] for each in others]
        after = [[1 + row % 59, *each] for row, each in enumerate(others)]
        sizes = (1e6 * (1 + random.pareto(0.9, 1000))).astype(int).tolist()
        reassigned = replace(small(before, after, size=sizes, brokers=60), heat=np.array(sizes))
        last, even = (cut_batches(reassigned, BatchLimits(hottest=each)) for each in (Hottest.LAST, Hottest.SPREAD))
        assert len(even) == len(last)
        assert last.moved_bytes.max() > 0.79 * sum(sizes)
        assert even.moved_bytes.max() <= max(*sizes, 1.1 * sum(sizes) / len(even))

    @given(reassignments(), all_limits)
    def test_the_same_again_is_the_same(self, reassigned: ReassignedPartitions, limits: BatchLimits) -> None:
        assert shown(cut_batches(reassigned, limits)) == shown(cut_batches(reassigned, limits))

    @given(reassignments())
    def test_without_limits_the_longest_chain_decides(self, reassigned: ReassignedPartitions) -> None:
        batches = cut_batches(replace(reassigned, waits=None), UNLIMITED)
        assert len(batches) == batches.lower_bound

    @reaches("both", 0.1)
    @given(reassignments(), all_limits)
    def test_partitions_that_wait_have_the_last_batches_alone(
        self, reassigned: ReassignedPartitions, limits: BatchLimits
    ) -> None:
        batches = cut_batches(reassigned, limits)
        waits = np.zeros(len(reassigned.after), np.bool_) if reassigned.waits is None else reassigned.waits
        kinds = [{bool(waits[row]) for row in batch} for batch in order_of(batches)]
        assert kinds == [{False}] * (len(batches) - batches.waiting) + [{True}] * batches.waiting
        if {True} in kinds and {False} in kinds:
            event("both")

    @costly()
    @given(reassignments(), all_limits)
    def test_the_inverses_hold_no_more_replicas_at_a_time(
        self, reassigned: ReassignedPartitions, limits: BatchLimits
    ) -> None:
        batches = cut_batches(replace(reassigned, is_barred=None), limits)
        factors = np.maximum((reassigned.before >= 0).sum(axis=1), (reassigned.after >= 0).sum(axis=1))
        for row, before, after in zip(batches.rows, unpadded(batches.before), unpadded(batches.after), strict=True):
            assert len({*before, *after}) <= factors[row] + 1


class TestSteps:
    def test_one_replica_is_replaced_in_one_step(self) -> None:
        assert path(small([[1, 2, 3]], [[1, 2, 4]])) == [[1, 2, 4]]

    def test_replicas_are_replaced_one_after_another_and_the_leader_last(self) -> None:
        assert path(small([[1, 2, 3]], [[4, 5, 6]])) == [[1, 4, 3], [1, 4, 5], [4, 5, 6]]

    def test_a_growing_factor_adds_all_at_once(self) -> None:
        assert path(small([[1]], [[1, 2, 3]])) == [[1, 2, 3]]
        assert path(small([[1, 2]], [[1, 3, 4, 5]])) == [[1, 3, 4, 5]]

    def test_a_growing_factor_adds_no_more_than_the_leader_may_send(self) -> None:
        limits = BatchLimits(max_moves_out_per_broker=1)
        assert path(small([[1]], [[1, 2, 3]]), limits) == [[1, 2], [1, 2, 3]]

    def test_a_shrinking_factor_drops_the_surplus_last(self) -> None:
        assert path(small([[1, 2, 3, 4]], [[1, 5, 6]])) == [[1, 5, 3, 4], [1, 5, 6]]
        assert path(small([[1, 2, 3]], [[1]])) == [[1]]

    def test_a_leader_that_stays_is_the_first_until_data_has_moved(self) -> None:
        assert path(small([[1, 2, 3]], [[4, 1, 2]])) == [[1, 4, 2], [4, 1, 2]]

    def test_orders_alone_change_in_the_last_batch(self) -> None:
        batches = cut_batches(small([[1, 2], [3, 4], [5, 6]], [[2, 1], [3, 7], [6, 5]]), UNLIMITED)
        assert order_of(batches) == [[1], [0, 2]]
        assert batches.moves_data.tolist() == [True, False]
        assert batches.moved_replicas.tolist() == [1, 0]

    def test_new_and_unchanged_partitions_are_in_no_batch(self) -> None:
        assert len(cut_batches(small([[], [1, 2]], [[1, 2], [1, 2]]), UNLIMITED)) == 0

    def test_a_replica_is_replaced_within_its_rack(self) -> None:
        """1 and 2 are in racks 1 and 2, 4 and 3 in racks 2 and 1: crosswise, the list would span two racks of three."""
        reassigned = with_racks(small([[0, 1, 2]], [[0, 4, 3]], brokers=5), [0, 1, 2, 1, 2])
        assert path(reassigned) == [[0, 3, 2], [0, 4, 3]]

    def test_a_leader_that_is_replaced_within_its_rack_goes_last_all_the_same(self) -> None:
        reassigned = with_racks(small([[0, 1]], [[2, 3]], brokers=4), [0, 1, 0, 2])
        assert path(reassigned) == [[0, 3], [2, 3]]

    def test_a_rack_is_opened_before_another_is_given_up(self) -> None:
        """4 opens rack 2 in place of 2, the last of rack 1; 3 is one more in rack 3, where 1 is already.

        The leader 0, whose rack has 5 too, goes last: 3 before 4 would leave racks 0 and 3 alone in between.
        """
        reassigned = with_racks(small([[0, 5, 1, 2]], [[5, 1, 3, 4]], brokers=6), [0, 3, 1, 3, 2, 0])
        assert path(reassigned) == [[0, 5, 1, 4], [5, 1, 3, 4]]


class TestCordons:
    """Broker 1 is cordoned, so that Kafka rejects each list that has it."""

    def test_what_leaves_with_it_leaves_at_once(self) -> None:
        """Otherwise the list between would have it: replicas leave in the order of the list, the leader last."""
        reassigned = small([[3, 2, 1]], [[3, 8, 9]])
        assert path(reassigned) == [[3, 8, 1], [3, 8, 9]]
        assert path(with_cordons(reassigned, 1)) == [[3, 8, 9]]
        assert path(with_cordons(reassigned, 2)) == [[3, 8, 1], [3, 8, 9]]

    def test_steps_after_it_has_left_replace_one_replica_each(self) -> None:
        reassigned = small([[0, 1, 2, 3]], [[6, 7, 8, 9]])
        assert path(reassigned) == [[0, 6, 2, 3], [0, 6, 7, 3], [0, 6, 7, 8], [6, 7, 8, 9]]
        assert path(with_cordons(reassigned, 2)) == [[0, 6, 7, 3], [0, 6, 7, 8], [6, 7, 8, 9]]

    def test_a_cordoned_leader_leaves_with_all_others(self) -> None:
        assert path(with_cordons(small([[1, 2, 3]], [[7, 8, 3]]), 1)) == [[7, 8, 3]]

    def test_a_broker_that_keeps_its_replica_is_in_every_list(self) -> None:
        """No order of steps avoids it; the broker has to be uncordoned for them."""
        assert path(with_cordons(small([[1, 2, 3]], [[1, 8, 9]]), 1)) == [[1, 8, 3], [1, 8, 9]]

    def test_the_leader_sends_no_more_than_it_may(self) -> None:
        reassigned = with_cordons(small([[3, 2, 1]], [[3, 8, 9]]), 1)
        assert path(reassigned, BatchLimits(max_moves_out_per_broker=1)) == [[3, 8, 1], [3, 8, 9]]
        assert path(reassigned, BatchLimits(max_moves_out_per_broker=2)) == [[3, 8, 9]]

    def test_inverses_bring_everything_back(self) -> None:
        reassigned = with_cordons(small([[3, 2, 1], [1, 2, 4]], [[3, 8, 9], [4, 5, 6]]), 1)
        batches = cut_batches(reassigned, UNLIMITED)
        assert executed(reassigned.after, batches, backwards=True) == [[3, 2, 1], [1, 2, 4]]

    def test_a_list_with_it_is_reported(self) -> None:
        reassigned = small([[3, 2, 1]], [[3, 8, 9]])
        apart = cut_batches(reassigned, UNLIMITED)
        (found,) = batch_violations(with_cordons(reassigned, 1), apart, UNLIMITED)
        assert (found.code, found.batch, found.row) == ("cordoned_broker", 0, 0)
        at_once = cut_batches(with_cordons(reassigned, 1), UNLIMITED)
        assert [one.code for one in batch_violations(reassigned, at_once, UNLIMITED)] == ["transient_replicas"]


class TestPacking:
    FOUR_TO_ONE = small([[0], [1], [2], [3]], [[9], [9], [9], [9]], size=[10, 20, 30, UNKNOWN_SIZE])

    def test_the_hottest_move_last_by_default(self) -> None:
        assert order_of(cut_batches(self.FOUR_TO_ONE, BatchLimits(max_moves_in_per_broker=2))) == [[0, 1], [2, 3]]
        assert order_of(cut_batches(self.FOUR_TO_ONE, BatchLimits(max_moves_in_per_broker=3))) == [[0], [1, 2, 3]]

    def test_the_hottest_move_first_if_requested(self) -> None:
        limits = BatchLimits(max_moves_in_per_broker=3, hottest=Hottest.FIRST)
        assert order_of(cut_batches(self.FOUR_TO_ONE, limits)) == [[1, 2, 3], [0]]

    def test_ties_go_by_row(self) -> None:
        alike = replace(self.FOUR_TO_ONE, heat=np.zeros(4, np.int64))
        limits = BatchLimits(max_moves_in_per_broker=3, hottest=Hottest.FIRST)
        assert order_of(cut_batches(alike, limits)) == [[0, 1, 2], [3]]

    def test_the_leader_sends_all_copies(self) -> None:
        reassigned = small([[0, 1], [0, 2], [0, 3]], [[0, 4], [0, 5], [0, 6]])
        limits = BatchLimits(max_moves_out_per_broker=2, hottest=Hottest.FIRST)
        assert order_of(cut_batches(reassigned, limits)) == [[1, 2], [0]]

    def test_bytes_fill_a_batch_with_what_still_fits(self) -> None:
        limits = BatchLimits(max_bytes_in_per_broker=40, hottest=Hottest.FIRST)
        batches = cut_batches(self.FOUR_TO_ONE, limits)
        assert order_of(batches) == [[0, 2, 3], [1]]
        assert batches.max_bytes_in.tolist() == [40, 20]
        assert batches.unknown_sizes.tolist() == [1, 0]
        assert batches.lower_bound == 2

    def test_more_misfits_than_are_tried_do_not_leave_a_batch_empty(self) -> None:
        """The coldest of all is the only one that the disk has room for; the others wait in vain."""
        reassigned = small([[0]] * 101, [[1]] * 101, size=[5, *[6] * 100], brokers=2)
        disks = BrokerDisks(np.array([605, 0]), np.array([605, 5]))
        with pytest.raises(BatchesOutOfDisk) as caught:
            cut_batches(reassigned, BatchLimits(hottest=Hottest.FIRST), disks)
        assert caught.value.context["partitions_left"] == 100

    def test_partitions_limit_every_batch(self) -> None:
        reassigned = small([[1, 2], [3, 4], [5, 6]], [[2, 1], [3, 7], [6, 5]])
        assert order_of(cut_batches(reassigned, BatchLimits(max_partitions=1))) == [[1], [0], [2]]

    def test_a_throttle_says_how_long_the_busiest_broker_takes(self) -> None:
        """Broker 0 sends 3 × 10 bytes at 4 a second; no broker takes more than 10."""
        reassigned = small([[0, 1], [0, 2], [0, 3]], [[0, 4], [0, 5], [0, 6]], size=10)
        batches = cut_batches(reassigned, BatchLimits(throttle_bytes_per_s=4))
        assert batches.seconds is not None
        assert batches.seconds.tolist() == [7.5]
        assert batches.max_bytes_in.tolist() == [10]
        assert batches.moved_bytes.tolist() == [30]


class TestRejections:
    def test_a_replica_that_is_larger_than_a_batch_is_named(self) -> None:
        reassigned = small([[0], [1]], [[8], [9]], size=[10, 50])
        with pytest.raises(MoveExceedsBatchLimit) as caught:
            cut_batches(reassigned, BatchLimits(max_bytes_in_per_broker=49))
        assert caught.value.context == {"row": 1, "broker": 109, "size_bytes": 50, "limit": 49}
        assert "a replica of 50 bytes moves to broker 109, which may receive 49 bytes" in caught.value.detail

    def test_what_is_large_and_does_not_move_is_no_matter(self) -> None:
        reassigned = small([[0, 1], [1]], [[1, 0], [9]], size=[50, 10])
        assert len(cut_batches(reassigned, BatchLimits(max_bytes_in_per_broker=49))) == 2

    def test_full_disks_cannot_exchange_replicas(self) -> None:
        reassigned = small([[0], [1]], [[1], [0]], size=[10, 8], brokers=2)
        disks = BrokerDisks(np.array([10, 8]), np.array([15, 15]))
        with pytest.raises(BatchesOutOfDisk) as caught:
            cut_batches(reassigned, BatchLimits(), disks)
        assert caught.value.context["broker"] in (100, 101)
        assert caught.value.context["missing_bytes"] == 3
        assert caught.value.context["partitions_left"] == 2

    def test_what_is_deleted_makes_room_for_the_next_batch(self) -> None:
        reassigned = small([[0], [1]], [[2], [0]], size=[10, 8], brokers=3)
        disks = BrokerDisks(np.array([10, 8, 0]), np.array([10, 10, 10]))
        assert order_of(cut_batches(reassigned, BatchLimits(), disks)) == [[0], [1]]

    def test_a_disk_that_is_too_full_already_may_give_away(self) -> None:
        reassigned = small([[0], [0]], [[1], [1]], size=10, brokers=2)
        disks = BrokerDisks(np.array([20, 0]), np.array([5, 10]))
        with pytest.raises(BatchesOutOfDisk, match="broker 101 is 10 bytes short"):
            cut_batches(reassigned, BatchLimits(), disks)
        assert len(cut_batches(reassigned, BatchLimits(), BrokerDisks(disks.used_bytes, np.array([5, 20])))) == 1


class TestVerifier:
    """Schedules that are wrong by hand; each is reported by its code."""

    REASSIGNED = with_racks(
        small([[0, 1], [2, 1], [3, 1]], [[0, 4], [4, 2], [3, 4]], size=10, brokers=5), [0, 1, 0, 0, 1]
    )

    @staticmethod
    def batches(*steps: dict[int, tuple[list[int], list[int]]]) -> Batches:
        """Batches written out, of replicas of 10 bytes; the figures are of batches in which only 4 takes any."""
        rows = [row for batch in steps for row in sorted(batch)]
        lists = [batch[row] for batch in steps for row in sorted(batch)]
        copied = [[len(set(b[1]) - set(b[0])) for b in batch.values()] for batch in steps]
        moved = np.array([sum(counts) for counts in copied], np.int64)
        to_four = [sum(4 in set(b[1]) - set(b[0]) for b in batch.values()) for batch in steps]
        return Batches(
            rows=np.array(rows, np.int64),
            offsets=np.cumsum([0, *map(len, steps)]),
            before=padded([before for before, _ in lists]),
            after=padded([after for _, after in lists]),
            moves_data=moved > 0,
            waiting=0,
            moved_replicas=moved,
            moved_bytes=moved * 10,
            unknown_sizes=np.zeros(len(steps), np.int64),
            max_bytes_in=np.array(to_four, np.int64) * 10,
            seconds=None,
            lower_bound=0,
        )

    def codes(self, *steps: dict[int, tuple[list[int], list[int]]], limits: BatchLimits = UNLIMITED) -> set[str]:
        return {found.code for found in batch_violations(self.REASSIGNED, self.batches(*steps), limits)}

    def test_a_right_schedule_is_right(self) -> None:
        assert self.codes(FIRST | SECOND | THIRD, LAST) == set()

    @pytest.mark.parametrize(
        ("limits", "code", "value"),
        [
            (BatchLimits(max_moves_in_per_broker=2), "moves_in", 3),
            (BatchLimits(max_moves_in_per_broker=None, max_bytes_in_per_broker=29), "bytes_in", 30),
            (BatchLimits(max_partitions=2), "partitions", 3),
        ],
    )
    def test_limits_are_reported_with_what_breaks_them(self, limits: BatchLimits, code: str, value: int) -> None:
        batches = self.batches(FIRST | SECOND | THIRD, LAST)
        (found,) = batch_violations(self.REASSIGNED, batches, limits)
        assert (found.code, found.batch, found.value) == (code, 0, value)
        assert found.broker == (None if code == "partitions" else 104)

    def test_a_source_that_sends_too_much_is_reported(self) -> None:
        reassigned = small([[0], [0]], [[0, 1], [0, 2]])
        batches = cut_batches(reassigned, UNLIMITED)
        (found,) = batch_violations(reassigned, batches, BatchLimits(max_moves_out_per_broker=1))
        assert (found.code, found.broker, found.value) == ("moves_out", 100, 2)

    def test_disks_are_reported(self) -> None:
        batches = self.batches(FIRST, SECOND | THIRD, LAST)
        disks = BrokerDisks(np.array([10, 30, 10, 10, 5]), np.array([100, 0, 100, 100, 30]))
        (found,) = batch_violations(self.REASSIGNED, batches, UNLIMITED, disks)
        assert (found.code, found.batch, found.broker, found.value) == ("disk", 1, 104, 35)

    def test_what_a_batch_deletes_is_free_only_after_it(self) -> None:
        reassigned = small([[0], [1]], [[2], [0]], size=10, brokers=3)
        disks = BrokerDisks(np.array([10, 10, 0]), np.array([10, 10, 10]))
        at_once, one_by_one = cut_batches(reassigned, UNLIMITED), cut_batches(reassigned, UNLIMITED, disks)
        assert [found.code for found in batch_violations(reassigned, at_once, UNLIMITED, disks)] == ["disk"]
        assert not batch_violations(reassigned, one_by_one, UNLIMITED, disks)

    def test_leaders_that_change_early_are_reported(self) -> None:
        assert "leader_changes_early" in self.codes(FIRST | {1: ([2, 1], [4, 2])} | THIRD)
        assert "leaders_not_last" in self.codes(FIRST | SECOND, LAST | THIRD)

    def test_partitions_that_wait_beside_others_are_reported(self) -> None:
        waits = replace(self.REASSIGNED, waits=np.array([False, False, True]))
        alone = replace(self.batches(FIRST | SECOND, LAST, THIRD), waiting=1)
        assert batch_violations(waits, alone, UNLIMITED) == []
        for wrong in (replace(alone, waiting=0), replace(self.batches(FIRST | SECOND | THIRD, LAST), waiting=1)):
            assert {found.code for found in batch_violations(waits, wrong, UNLIMITED)} >= {"waits_not_last"}

    def test_paths_that_lead_elsewhere_are_reported(self) -> None:
        whole = FIRST | SECOND | THIRD
        assert self.codes(FIRST | SECOND, LAST) == {"row_left_out"}
        assert self.codes(whole) == {"goal_missed"}
        assert self.codes(whole, {1: ([4, 2], [4, 2])}) == {"step_out_of_place", "step_changes_nothing"}
        assert self.codes({0: ([0, 1], [0, 3])} | SECOND | THIRD, {0: ([0, 3], [0, 4])} | LAST) >= {"detour"}

    def test_lists_that_kafka_rejects_or_that_are_fragile_are_reported(self) -> None:
        rest = SECOND | THIRD
        assert self.codes({0: ([0, 1], [0, 0])} | rest, LAST) == {"goal_missed", "illegal_list"}
        assert "illegal_list" in self.codes({0: ([0, 1], [0, 9])} | rest, LAST)
        assert self.codes({0: ([0, 1], [0])} | rest, {0: ([0], [0, 4])} | LAST) == {
            "too_few_replicas",
            "too_few_racks",
        }
        several = self.batches({0: ([0, 1], [2, 3])})
        found = batch_violations(small([[0, 1]], [[2, 3]], brokers=4), several, UNLIMITED)
        assert [one.code for one in found] == ["transient_replicas"]

    def test_a_new_partition_in_a_batch_and_two_steps_in_one_are_reported(self) -> None:
        created = self.batches({0: ([], [1])})
        assert [one.code for one in batch_violations(small([[]], [[1]]), created, UNLIMITED)] == ["partition_is_new"]
        right = self.batches({0: ([0, 1], [0, 3])}, {0: ([0, 3], [2, 3])})
        at_once = replace(right, offsets=np.array([0, 2]))
        assert [one.code for one in batch_violations(small([[0, 1]], [[2, 3]]), at_once, UNLIMITED)] == ["row_twice"]

    @pytest.mark.parametrize("name", ["moved_replicas", "moved_bytes", "unknown_sizes", "max_bytes_in"])
    def test_wrong_figures_are_reported(self, name: str) -> None:
        batches = self.batches(FIRST | SECOND | THIRD, LAST)
        wrong = replace(batches, **{name: getattr(batches, name) + 1})
        (found,) = batch_violations(self.REASSIGNED, wrong, UNLIMITED)
        assert found.code == "wrong_figures"
        assert name in found.detail

    def test_a_wrong_bound_a_wrong_number_and_wrong_seconds_are_reported(self) -> None:
        batches = self.batches(FIRST | SECOND | THIRD, LAST)
        throttled = BatchLimits(max_moves_in_per_broker=None, throttle_bytes_per_s=10)
        for wrong, limits in (
            (replace(batches, lower_bound=3), UNLIMITED),
            (replace(batches, moves_data=np.array([True, True])), UNLIMITED),
            (batches, throttled),
            (replace(batches, seconds=np.array([2.0, 0.0])), throttled),
        ):
            assert [one.code for one in batch_violations(self.REASSIGNED, wrong, limits)] == ["wrong_figures"]
        right = replace(batches, seconds=np.array([3.0, 0.0]))
        assert not batch_violations(self.REASSIGNED, right, throttled)
