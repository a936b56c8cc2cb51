"""What if a broker were removed, or some added: laws over small random clusters, then worked examples."""

import json
from typing import Any

import pytest
from hypothesis import given

from app.core.model import INT32_MAX
from app.core.reassignment import KEEP, TIGHT
from app.core.reassignment.sweep import NUMBERS, read_sweep
from app.core.reassignment.sweep.definition import added_brokers, read_axes, read_definition, resolved_document
from app.core.sweeps import score
from app.errors import Failure
from app.errors.reassignments import UnknownBroker
from app.errors.requests import ConflictingFields, EmptyAxis, ImpossibleValue, UnknownAxis
from tests import draws as st
from tests.profiles import costly

Json = dict[str, Any]


def cluster(current: list[list[int]], racks: list[str | None], sizes: list[int] | None = None, **more: Any) -> Json:
    """Brokers 0, 1, … in these racks, and one topic; all racks None is a cluster without any."""
    return {
        "brokers": [{"id": broker, "rack": rack, "receives": True} for broker, rack in enumerate(racks)],
        "counts_racks": any(racks),
        "spans_all": True,
        "topics": [{"name": "t", "replicas": current, "size_bytes": [1] * len(current) if sizes is None else sizes}],
        "base": [0] * len(racks),
        "base_bytes": [0] * len(racks),
        "sizes_known": True,
    } | more


def rows(cluster_json: Json, axes: Json, **more: Any) -> list[Json]:
    """All scenarios, as an executor scores them: from JSON."""
    definition = {"axes": axes, "minimise": "bytes", "resolved": cluster_json} | more
    sweep = read_sweep(json.loads(json.dumps(definition)))
    actual: list[Json] = json.loads(json.dumps([row.document for row in score(sweep, 0, sweep.count)]))
    assert [row["index"] for row in actual] == list(range(sweep.count))
    return actual


@st.composite
def clusters(draw: st.DrawFn, *, racked: bool | None = None) -> Json:
    """Up to six brokers, in up to three racks or in none, with up to eight partitions of one or two factors."""
    brokers = draw(st.integers(1, 6))
    names = st.sampled_from(["a", "b", "c"])
    is_racked = draw(st.booleans()) if racked is None else racked
    racks = draw(st.lists(names if is_racked else st.none(), min_size=brokers, max_size=brokers))
    current = [
        draw(st.permutations(range(brokers)))[: draw(st.integers(1, min(3, brokers)))]
        for _ in range(draw(st.integers(1, 8)))
    ]
    sizes = draw(st.lists(st.integers(0, 9), min_size=len(current), max_size=len(current)))
    return cluster([list(row) for row in current], racks, sizes)


@costly()
@given(clusters(racked=False))
def test_without_racks_a_removal_moves_the_brokers_replicas(cluster_json: Json) -> None:
    """Nothing else has to move, and with `keep` nothing else does."""
    brokers, topic = len(cluster_json["brokers"]), cluster_json["topics"][0]
    for row in rows(cluster_json, {"remove_broker": "each"}):
        removed = row["axes"]["remove_broker"]
        if max(map(len, topic["replicas"])) == brokers:
            assert row["error"]["code"] == "infeasible_reassignment"
            continue
        replicas_before = [
            size for current, size in zip(topic["replicas"], topic["size_bytes"], strict=True) if removed in current
        ]
        assert (row["moved_replicas"], row["moved_bytes"], row["lower_bound_bytes"]) == (
            len(replicas_before),
            sum(replicas_before),
            sum(replicas_before),
        )
        assert (row["optimal"], row["gap"], row["brokers"], row["short_of_racks"]) == (True, 0, brokers - 1, None)


@costly()
@given(clusters(), st.sampled_from([None, "keep", "tight", {"tolerance": 0.5}]), st.sampled_from(["bytes", "replicas"]))
def test_the_figures_of_every_scenario_are_consistent(
    cluster_json: Json, balance_of_replicas: Any, minimise: str
) -> None:
    axes = {"add_brokers": [0, 2], "remove_broker": "each"}
    replicas_before = sum(map(len, cluster_json["topics"][0]["replicas"]))
    for row in rows(cluster_json, axes, balance={"replicas": balance_of_replicas}, minimise=minimise):
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
def test_replicas_of_added_brokers_have_moved_and_are_no_fewer_than_the_smallest_count(cluster_json: Json) -> None:
    """With `tight`, which adding brokers asks for by itself."""
    for row in rows(cluster_json, {"add_brokers": {"from": 1, "to": 3}}):
        assert row["error"] is None, row["error"]
        assert row["moved_replicas"] >= row["axes"]["add_brokers"] * row["smallest_after"]


@costly()
@given(clusters(racked=False))
def test_without_racks_added_brokers_never_raise_the_largest_count(cluster_json: Json) -> None:
    """What is legal on some brokers is legal on more, and the largest count is the smallest that can be."""
    largest = [
        row["largest_after"] for row in rows(cluster_json, {"add_brokers": [0, 1, 2, 3]}, balance={"replicas": "tight"})
    ]
    assert largest == sorted(largest, reverse=True)


@given(clusters(), st.integers(0, 3))
def test_a_cluster_survives_its_json(cluster_json: Json, added: int) -> None:
    definition = read_definition({"axes": {"add_brokers": [added]}, "minimise": "bytes", "resolved": cluster_json})
    assert resolved_document(definition.cluster) | {"sizes_known": True} == cluster_json


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

    def cluster_json(self, **more: Any) -> Json:
        return cluster([list(row) for row in self.REPLICAS], list(self.RACKS), [10, 20, 40], **more)

    def test_replicas_of_a_removed_broker_stay_in_its_rack(self) -> None:
        actual = {row["axes"]["remove_broker"]: row for row in rows(self.cluster_json(), {"remove_broker": [0, 4]})}
        assert [actual[0][name] for name in ("moved_replicas", "moved_bytes")] == [2, 50]
        assert [actual[4][name] for name in ("moved_replicas", "moved_bytes")] == [2, 60]
        # All is on 3 and 1 now.
        assert [actual[0][name] for name in ("smallest_before", "largest_before", "largest_bytes_before")] == [1, 3, 70]
        assert [actual[0][name] for name in ("smallest_after", "largest_after", "largest_bytes_after")] == [1, 3, 70]

    def test_the_last_broker_of_a_rack_cannot_be_removed_if_racks_are_enforced(self) -> None:
        [row] = rows(self.cluster_json(), {"remove_broker": [2]})
        assert row == {
            "index": 0,
            "axes": {"remove_broker": 2},
            "feasible": None,
            "error": {
                "code": "infeasible_reassignment",
                "detail": "3 racks are needed for factor 3 on topic t; 2 are left (c has no broker that receives)",
                "path": [],
            },
        }

    def test_it_can_if_a_broker_is_added_there(self) -> None:
        """The rack that is empty then has the fewest brokers."""
        [row] = rows(self.cluster_json(), {"remove_broker": [2], "add_brokers": [1]}, balance={"replicas": "keep"})
        assert (row["moved_replicas"], row["moved_bytes"], row["short_of_racks"]) == (3, 70, 0)

    def test_it_can_if_the_remaining_racks_suffice(self) -> None:
        """Each partition gets a second replica in one of the two racks, and is short of one."""
        [row] = rows(self.cluster_json(spans_all=False), {"remove_broker": [2]})
        assert (row["error"], row["moved_bytes"], row["short_of_racks"]) == (None, 70, 3)

    def test_an_offline_broker_keeps_its_replicas_and_receives_none(self) -> None:
        cluster_json = self.cluster_json()
        cluster_json["brokers"][3]["receives"] = False
        [row] = rows(cluster_json, {"add_brokers": [1]}, balance={"replicas": "keep"})
        assert (row["moved_replicas"], row["brokers"]) == (0, 5)
        [row] = rows(cluster_json, {"remove_broker": [0]})
        assert row["error"]["code"] == "infeasible_reassignment"
        assert row["error"]["detail"].endswith("2 are left (a has no broker that receives)")

    def test_partitions_that_may_not_move_count(self) -> None:
        cluster_json = self.cluster_json(base=[0, 0, 0, 5, 0], base_bytes=[0, 0, 0, 500, 0])
        [row] = rows(cluster_json, {"add_brokers": [0]})
        assert (row["largest_before"], row["largest_bytes_before"]) == (6, 520)
        assert (row["moved_replicas"], row["largest_after"], row["largest_bytes_after"]) == (0, 6, 520)

    def test_with_unknown_sizes_replicas_are_minimised_and_known_bytes_are_counted(self) -> None:
        cluster_json = cluster([[0], [0], [0], [1]], [None, None], [0, 7, 9, 0], sizes_known=False)
        [row] = rows(cluster_json, {"add_brokers": [0]}, balance={"replicas": "tight"})
        assert (row["moved_replicas"], row["lower_bound_bytes"], row["optimal"]) == (1, 0, True)
        assert row["moved_bytes"] in (0, 7, 9)

    def test_minimising_replicas_differs_from_minimising_bytes(self) -> None:
        """Broker 0 has one too many and 2 one too few: a large replica goes there, or two small ones by way of 1."""
        cluster_json = cluster([[0], [0], [0], [0, 2], [1], [1]], [None] * 3, [10, 10, 10, 1, 1, 1])
        axes, tight = {"add_brokers": [0]}, {"replicas": "tight"}
        [few_bytes] = rows(cluster_json, axes, balance=tight, minimise="bytes")
        assert [few_bytes[name] for name in ("moved_replicas", "moved_bytes", "lower_bound_bytes")] == [2, 2, 2]
        [few] = rows(cluster_json, axes, balance=tight, minimise="replicas")
        # Whatever the counts come to, no byte has to move: they take part in the bound of what is minimised alone.
        assert [few[name] for name in ("moved_replicas", "moved_bytes", "lower_bound_bytes")] == [1, 10, 0]
        assert few["optimal"]

    def test_a_tolerance_moves_less_than_tight(self) -> None:
        """Ten on one broker: five move, or as many as leave seven (half more than five, rounded down)."""
        cluster_json = cluster([[0]] * 10, [None, None])
        tight, wider = (
            rows(cluster_json, {"add_brokers": [0]}, balance={"replicas": balance_of_replicas})[0]
            for balance_of_replicas in ("tight", {"tolerance": 0.5})
        )
        assert (tight["moved_replicas"], tight["spread_after"]) == (5, 0)
        assert (wider["moved_replicas"], wider["largest_after"], wider["smallest_after"]) == (3, 7, 3)

    def test_a_broker_of_unknown_rack_spans_none(self) -> None:
        """Broker 2 is down: its replica may stay, and the partition spans the two racks that are known all the same."""
        cluster_json = cluster([[0, 2]], ["a", "b", None], spans_all=False)
        cluster_json["brokers"][2]["receives"] = False
        [row] = rows(cluster_json, {"add_brokers": [0]})
        assert (row["error"], row["moved_replicas"], row["short_of_racks"]) == (None, 0, 1)


class TestArrivals:
    """Who is added: the ids after the largest, dealt to racks."""

    def added(
        self, racks: list[str | None], axes: Json, named: list[str] | None = None
    ) -> list[tuple[int, str | None]]:
        definition = {"axes": axes, "minimise": "bytes", "resolved": cluster([[0]], racks), "racks_of_added": named}
        sweep = read_definition(definition)
        return [(broker.id, broker.rack) for broker in added_brokers(sweep, sweep.change(0))]

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
        cluster_json = cluster([[0]], [None])
        cluster_json["brokers"].append({"id": INT32_MAX - 1, "rack": None, "receives": True})
        cluster_json["base"], cluster_json["base_bytes"] = [0, 0], [0, 0]
        last, beyond = rows(cluster_json, {"add_brokers": [1, 2]})
        assert last["error"] is None
        assert (beyond["error"]["code"], beyond["error"]["path"]) == ("impossible_value", ["axes", "add_brokers"])


class TestAxes:
    """What is tried, scenario by scenario."""

    def test_the_last_axis_varies_fastest(self) -> None:
        axes = {"add_brokers": {"from": 0, "to": 4, "step": 2}, "remove_broker": [1, 0]}
        actual = rows(cluster([[0], [1]], [None] * 3), axes)
        assert [tuple(row["axes"].values()) for row in actual] == [(0, 1), (0, 0), (2, 1), (2, 0), (4, 1), (4, 0)]

    def test_the_default_balance_depends_on_the_change(self) -> None:
        sweep = read_definition(
            {"axes": {"add_brokers": [0, 1]}, "minimise": "bytes", "resolved": cluster([[0]], [None])}
        )
        assert [sweep.balance_of(sweep.change(index)) for index in (0, 1)] == [KEEP, TIGHT]
        with pytest.raises(IndexError):
            sweep.change(2)

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
