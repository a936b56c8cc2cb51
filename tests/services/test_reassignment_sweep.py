"""Sweeps over removed and added brokers: laws over small random clusters, then worked examples."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from app.core.model import INT32_MAX, UNKNOWN_SIZE, Broker, Cluster
from app.errors import Failure
from app.errors.reassignments import UnknownBroker
from app.errors.requests import ConflictingFields, EmptyAxis, ImpossibleValue, UnknownAxis
from app.services.reassignment.requests.request import balance_of
from app.services.reassignment.sweep import NUMBERS, SweptRequests
from app.services.reassignment.sweep.axes import read_axes
from tests import draws as st
from tests.profiles import costly
from tests.services.reassignments import topic
from tests.services.swept import Json, cluster, clusters, definition_of, rows
from tests.services.test_known_sets import plan


@costly()
@given(clusters(racked=False))
def test_without_racks_a_removal_moves_the_brokers_replicas(swept: Cluster) -> None:
    """Nothing else has to move, and with `keep` nothing else does."""
    brokers, [moved] = len(swept.brokers), swept.topics
    replicas = [[broker for broker in row if broker >= 0] for row in moved.replicas.tolist()]
    for row in rows(swept, {"remove_broker": "each"}):
        removed = row["axes"]["remove_broker"]
        if max(map(len, replicas)) == brokers:
            assert row["error"]["code"] == "infeasible_reassignment"
            continue
        replicas_before = [
            size for current, size in zip(replicas, moved.size_bytes.tolist(), strict=True) if removed in current
        ]
        assert (row["moved_replicas"], row["moved_bytes"], row["lower_bound_bytes"]) == (
            len(replicas_before),
            sum(replicas_before),
            sum(replicas_before),
        )
        assert (row["optimal"], row["gap"], row["brokers"], row["short_of_racks"]) == (True, 0, brokers - 1, None)


@costly()
@given(clusters(), st.sampled_from([None, "keep", "tight", {"tolerance": 0.5}]), st.sampled_from(["bytes", "replicas"]))
def test_the_figures_of_every_scenario_are_consistent(swept: Cluster, balance_of_replicas: Any, minimise: str) -> None:
    axes = {"add_brokers": [0, 2], "remove_broker": "each"}
    replicas_before = int((swept.topics[0].replicas >= 0).sum())
    for row in rows(swept, axes, balance={"replicas": balance_of_replicas}, minimise=minimise):
        assert list(row["axes"]) == ["add_brokers", "remove_broker"]
        if row["error"] is not None:
            assert row["error"]["code"] == "infeasible_reassignment", row["error"]
            continue
        assert set(NUMBERS) <= set(row)
        assert row["lower_bound_bytes"] <= row["moved_bytes"]
        assert row["optimal"] == (row["gap"] == 0)
        assert row["optimal"]  # so few partitions leave no gap
        for when in ("before", "after"):
            assert row[f"spread_{when}"] == row[f"largest_{when}"] - row[f"smallest_{when}"] >= 0
        assert row["smallest_after"] * row["brokers"] <= replicas_before <= row["largest_after"] * row["brokers"]
        if row["short_of_racks"] is not None:
            assert row["short_of_racks"] == 0  # racks are enforced


@costly()
@given(clusters())
def test_replicas_of_added_brokers_have_moved_and_are_no_fewer_than_the_smallest_count(swept: Cluster) -> None:
    """With `tight`, which adding brokers asks for by itself."""
    for row in rows(swept, {"add_brokers": {"from": 1, "to": 3}}):
        assert row["error"] is None, row["error"]
        assert row["moved_replicas"] >= row["axes"]["add_brokers"] * row["smallest_after"]


@costly()
@given(clusters(racked=False))
def test_without_racks_added_brokers_never_raise_the_largest_count(swept: Cluster) -> None:
    """A placement legal on some brokers is legal on more, and the largest count is the smallest that can be."""
    largest = [
        row["largest_after"] for row in rows(swept, {"add_brokers": [0, 1, 2, 3]}, balance={"replicas": "tight"})
    ]
    assert largest == sorted(largest, reverse=True)


@pytest.mark.parametrize("axes", [{"remove_broker": "each"}, {"add_brokers": [0, 2]}])
def test_a_cluster_without_partitions_moves_nothing(axes: Json) -> None:
    for row in rows(cluster([], ["a", "b"]), axes, balance={"replicas": "tight"}):
        assert (row["error"], row["moved_replicas"], row["largest_after"], row["largest_bytes_after"]) == (
            None,
            0,
            0,
            0,
        )


def test_a_cluster_that_loses_its_only_broker_has_no_counts() -> None:
    [row] = rows(cluster([], ["a"]), {"remove_broker": "each"})
    assert (row["brokers"], row["spread_before"], row["spread_after"], row["error"]) == (0, 0, None, None)


class TestRacks:
    """Three racks: a has brokers 0 and 3, b has 1 and 4, c has 2 alone."""

    RACKS = ("a", "b", "c", "a", "b")
    REPLICAS = ([0, 1, 2], [3, 4, 2], [0, 4, 2])

    def swept(self) -> Cluster:
        return cluster(self.REPLICAS, self.RACKS, [10, 20, 40])

    def test_replicas_of_a_removed_broker_stay_in_its_rack(self) -> None:
        actual = {row["axes"]["remove_broker"]: row for row in rows(self.swept(), {"remove_broker": [0, 4]})}
        assert [actual[0][name] for name in ("moved_replicas", "moved_bytes")] == [2, 50]
        assert [actual[4][name] for name in ("moved_replicas", "moved_bytes")] == [2, 60]
        # All is on 3 and 1 now.
        assert [actual[0][name] for name in ("smallest_before", "largest_before", "largest_bytes_before")] == [1, 3, 70]
        assert [actual[0][name] for name in ("smallest_after", "largest_after", "largest_bytes_after")] == [1, 3, 70]

    def test_the_last_broker_of_a_rack_cannot_be_removed_if_racks_are_enforced(self) -> None:
        [row] = rows(self.swept(), {"remove_broker": [2]})
        assert row == {
            "index": 0,
            "axes": {"remove_broker": 2},
            "feasible": None,
            "error": {
                "code": "infeasible_reassignment",
                "detail": "3 racks are needed for factor 3 on topic t; 2 are left (c loses all its brokers)",
                "path": ["axes", "remove_broker"],
            },
        }

    def test_it_can_if_a_broker_is_added_there(self) -> None:
        """The rack that is empty then has the fewest brokers."""
        [row] = rows(self.swept(), {"remove_broker": [2], "add_brokers": [1]}, balance={"replicas": "keep"})
        assert (row["moved_replicas"], row["moved_bytes"], row["short_of_racks"]) == (3, 70, 0)

    def test_it_can_if_the_remaining_racks_suffice(self) -> None:
        """Each partition gets a second replica in one of the two racks, and is short of one."""
        [row] = rows(self.swept(), {"remove_broker": [2]}, rack_mode="safe")
        assert (row["error"], row["moved_bytes"], row["short_of_racks"]) == (None, 70, 3)

    def test_an_offline_broker_keeps_its_replicas_and_receives_none(self) -> None:
        swept = self.swept()
        fenced = tuple(replace(broker, fenced=broker.id == 3) for broker in swept.brokers)
        swept = replace(swept, brokers=fenced)
        [row] = rows(swept, {"add_brokers": [1]}, balance={"replicas": "keep"})
        assert (row["moved_replicas"], row["brokers"]) == (0, 5)
        [row] = rows(swept, {"remove_broker": [0]})
        assert row["error"]["code"] == "infeasible_reassignment"
        assert row["error"]["detail"].endswith("2 are left (no broker of a may have it)")

    def test_partitions_that_may_not_move_count(self) -> None:
        others = topic("others", [[3]] * 5, [100] * 5)
        swept = replace(self.swept(), topics=(others, *self.swept().topics))
        [row] = rows(swept, {"add_brokers": [0]}, topics=["t"])
        assert (row["largest_before"], row["largest_bytes_before"]) == (6, 520)
        assert (row["moved_replicas"], row["largest_after"], row["largest_bytes_after"]) == (0, 6, 520)

    def test_with_unknown_sizes_replicas_are_minimised_and_known_bytes_are_counted(self) -> None:
        swept = cluster([[0], [0], [0], [1]], [None, None], [UNKNOWN_SIZE, 7, 9, UNKNOWN_SIZE])
        [row] = rows(swept, {"add_brokers": [0]}, balance={"replicas": "tight"})
        assert (row["moved_replicas"], row["lower_bound_bytes"], row["optimal"]) == (1, 0, True)
        assert row["moved_bytes"] in (0, 7, 9)

    def test_minimising_replicas_differs_from_minimising_bytes(self) -> None:
        """Broker 0 has one too many and 2 one too few: a large replica goes there, or two small ones by way of 1."""
        swept = cluster([[0], [0], [0], [0, 2], [1], [1]], [None] * 3, [10, 10, 10, 1, 1, 1])
        axes, tight = {"add_brokers": [0]}, {"replicas": "tight"}
        [few_bytes] = rows(swept, axes, balance=tight, minimise="bytes")
        assert [few_bytes[name] for name in ("moved_replicas", "moved_bytes", "lower_bound_bytes")] == [2, 2, 2]
        [few] = rows(swept, axes, balance=tight, minimise="replicas")
        # Whatever the counts come to, no byte has to move: they take part in the bound of the objective alone.
        assert [few[name] for name in ("moved_replicas", "moved_bytes", "lower_bound_bytes")] == [1, 10, 0]
        assert few["optimal"]

    def test_a_tolerance_moves_less_than_tight(self) -> None:
        """Ten on one broker: five move, or as many as leave seven (half more than five, rounded down)."""
        swept = cluster([[0]] * 10, [None, None])
        tight, wider = (
            rows(swept, {"add_brokers": [0]}, balance={"replicas": balance_of_replicas})[0]
            for balance_of_replicas in ("tight", {"tolerance": 0.5})
        )
        assert (tight["moved_replicas"], tight["spread_after"]) == (5, 0)
        assert (wider["moved_replicas"], wider["largest_after"], wider["smallest_after"]) == (3, 7, 3)

    def test_a_broker_of_unknown_rack_spans_none(self) -> None:
        """Broker 2 is down: its replica may stay, and the partition spans the two racks that are known all the same."""
        swept = cluster([[0, 2]], ["a", "b", None])
        [row] = rows(replace(swept, brokers=swept.brokers[:2]), {"add_brokers": [0]}, rack_mode="safe")
        assert (row["error"], row["moved_replicas"], row["short_of_racks"]) == (None, 0, 1)


class TestArrivals:
    """Who is added: the ids after the largest, dealt to racks."""

    def added(
        self, racks: Sequence[str | None], axes: Json, named: Sequence[str] | None = None
    ) -> list[tuple[int, str | None]]:
        more = {} if named is None else {"racks_of_added": named}
        added = SweptRequests.of(definition_of(cluster([[0]], racks), axes, **more)).request(0).add_brokers
        return [(broker.id, broker.rack) for broker in added]

    def test_racks_with_the_fewest_brokers_are_first(self) -> None:
        expected = [(6, "c"), (7, "b"), (8, "c"), (9, "a")]
        assert self.added(["a", "a", "a", "b", "b", "c"], {"add_brokers": [4]}) == expected

    def test_the_removed_broker_is_not_counted(self) -> None:
        assert self.added(["a", "b", "c"], {"add_brokers": [2], "remove_broker": [1]}) == [(3, "b"), (4, "a")]

    def test_named_racks_are_used_in_rotation(self) -> None:
        assert self.added(["a", "b"], {"add_brokers": [3]}, ["b", "a"]) == [(2, "b"), (3, "a"), (4, "b")]

    def test_without_racks_added_brokers_have_none(self) -> None:
        assert self.added([None, None], {"add_brokers": [2]}) == [(2, None), (3, None)]

    def test_ids_beyond_the_largest_are_rejected(self) -> None:
        definition = definition_of(cluster([[0]], [None]), {"add_brokers": [0]})
        requests = SweptRequests.of(definition)
        requests = replace(requests, brokers=(*requests.brokers, Broker(INT32_MAX - 1)))
        assert [broker.id for broker in requests.added(None, 1)] == [INT32_MAX]
        with pytest.raises(ImpossibleValue) as raised:
            requests.added(None, 2)
        assert raised.value.path == ("axes", "add_brokers")


class TestAxes:
    """The scenarios, one by one."""

    def test_the_last_axis_varies_fastest(self) -> None:
        axes = {"add_brokers": {"from": 0, "to": 4, "step": 2}, "remove_broker": [1, 0]}
        actual = rows(cluster([[0], [1]], [None] * 3), axes)
        assert [tuple(row["axes"].values()) for row in actual] == [(0, 1), (0, 0), (2, 1), (2, 0), (4, 1), (4, 0)]

    def test_the_default_balance_depends_on_the_change(self) -> None:
        requests = SweptRequests.of(definition_of(cluster([[0]], [None]), {"add_brokers": [0, 1]}))
        balances = [balance_of(requests.request(index)).replicas for index in (0, 1)]
        assert balances == ["keep", "tight"]
        with pytest.raises(IndexError):
            requests.request(2)

    @pytest.mark.parametrize(
        ("axes", "failure", "path"),
        [
            ({"racks": [1]}, UnknownAxis, ("axes", "racks")),
            ({"remove_broker": []}, EmptyAxis, ("axes", "remove_broker")),
            ({"remove_broker": [0, 7]}, UnknownBroker, ("axes", "remove_broker", 1)),
            ({"remove_broker": [0, 0]}, ConflictingFields, ("axes", "remove_broker", 1)),
            ({"remove_broker": ["0"]}, ImpossibleValue, ("axes", "remove_broker", 0)),
            ({"remove_broker": "none"}, ImpossibleValue, ("axes", "remove_broker")),
            ({"add_brokers": "each"}, ImpossibleValue, ("axes", "add_brokers")),
            ({"add_brokers": [1, -1]}, ImpossibleValue, ("axes", "add_brokers", 1)),
            ({"add_brokers": [1.5]}, ImpossibleValue, ("axes", "add_brokers", 0)),
            ({"add_brokers": [10_001]}, ImpossibleValue, ("axes", "add_brokers", 0)),
            ({"add_brokers": {"from": 2, "to": 1}}, EmptyAxis, ("axes", "add_brokers")),
        ],
    )
    def test_an_impossible_axis_is_named(self, axes: Json, failure: type[Failure], path: tuple[str | int, ...]) -> None:
        with pytest.raises(failure) as raised:
            read_axes(axes, [0, 1])
        assert raised.value.path == path


def test_losses_of_a_scenario_are_those_of_its_plan() -> None:
    """Two of three replicas have to be in sync, and after a removal rack b has two replicas of some partition."""
    brokers = tuple(Broker(broker, "aab"[broker % 3]) for broker in range(6))
    rows_of = topic("t", [[0, 1, 2], [3, 4, 5], [0, 2, 5], [1, 3, 2], [4, 5, 0]], [5, 4, 3, 2, 1])
    swept = Cluster("c", brokers, (replace(rows_of, configs={"min.insync.replicas": "2"}),))
    for row in rows(swept, {"remove_broker": "each"}):
        measures: Any = plan(swept, {"remove_brokers": [row["axes"]["remove_broker"]]}).answer["measures"]
        losses, sets = measures["losses"], measures["copysets"]
        for name, of in (("offline", "rack"), ("unwritable", "rack"), ("unwritable", "broker")):
            worst = max(counts[name] for counts in losses[f"{of}s"].values())
            assert row[f"{name}_after_{of}_loss"] == worst
        assert row["unwritable_during_restart"] == losses["during_restart"]["share_of_failures_unwritable"] > 0
        assert (row["replica_sets"], row["loss_probability"]) == (sets["sets"], sets["loss_probability"]["3"])
        assert row["unwritable_after_rack_loss"] > 0


def test_losses_of_writes_are_unknown_without_min_insync_replicas() -> None:
    swept = Cluster("c", tuple(map(Broker, range(4))), (topic("t", [[0, 1], [2, 3]], [5, 4]),))
    for row in rows(swept, {"remove_broker": "each"}):
        assert (row["unwritable_after_broker_loss"], row["unwritable_during_restart"]) == (None, None)
        assert (row["offline_after_rack_loss"], row["replica_sets"]) == (0, 2)
