"""`/v1/plans/group`: the bytes/s from rack to rack, the cost of changes, and pauses by events."""

from typing import Any

import httpx
import pytest

from app.core.groups.registry import ASSIGNORS
from tests.api.contract import only_error, problem
from tests.api.group_requests import ask, brokers, codes, member, owning, plan, three, topic

Json = dict[str, Any]
RATES = {"t": [8, 4, 2, 1, 16, 32]}
"""Bytes/s of the partitions 0 … 5, which are led in the racks a, b, c, a, b, c."""
SUMS = ("cross_rack_bytes_per_s", "unknown_bytes_per_s", "cost_per_month")
MONTH_S = 365 * 24 * 3600 / 12
GIB = 2**30


def traffic(client: httpx.Client, **body: Any) -> Json:
    """The traffic of a plan of known rates."""
    found: Json = plan(client, **{"bytes_per_s": RATES} | body)["traffic"]
    return found


def row(found: Json, change: str, value: Any = None) -> Json:
    """The row of a change."""
    (one,) = [each for each in found["if"] if (each["change"], each["value"]) == (change, value)]
    assert isinstance(one, dict)
    return one


def pairs(found: Json) -> dict[tuple[str | None, str | None], float]:
    return {(each["from"], each["to"]): each["bytes_per_s"] for each in found["per_rack_pair"]}


class TestTraffic:
    """Three members in three racks; range and roundrobin deal 0 3 | 1 4 | 2 5 to m-a, m-b and m-c."""

    def test_reads_in_rack(self, client: httpx.Client) -> None:
        found = traffic(client)
        assert pairs(found) == {("a", "a"): 9, ("b", "b"): 20, ("c", "c"): 34}
        assert [found[name] for name in SUMS] == [0, 0, 0]

    def test_leaders_are_read_although_a_replica_is_in_rack(self, client: httpx.Client) -> None:
        """With the members in b, c and a, each read partition has its follower in rack and its leader in another."""
        members = [member("m-0", "b"), member("m-1", "c"), member("m-2", "a")]
        body: Json = {"members": members, "topics": [topic(replicas=2)], "assignor": "roundrobin"}
        found = plan(client, **body, bytes_per_s=RATES, prices={"cross_rack_per_gib": 10})
        assert found["locality"]["in_rack"] == 6
        of = found["traffic"]
        assert pairs(of) == {("a", "b"): 9, ("b", "c"): 20, ("c", "a"): 34}
        assert of["price"] == {"cross_rack_per_gib": 10, "is_default": False}
        assert of["cost_per_month"] == round(63 * MONTH_S / GIB * 10, 2)
        assert (of["replication_bytes_per_s"], of["replication_cost_per_month"]) == (63, of["cost_per_month"])
        assert of["per_topic"] == [
            {"topic": "t", "bytes_per_s": 63, "cross_rack_bytes_per_s": 63, "unknown_bytes_per_s": 0}
        ]
        assert [each["cross_rack_bytes_per_s"] for each in of["per_member"]] == [9, 20, 34]
        assert row(of, "follower_fetching", True)["cross_rack_bytes_per_s"] == 0

    def test_a_rate_of_a_topic_is_of_all_its_partitions(self, client: httpx.Client) -> None:
        assert pairs(traffic(client, bytes_per_s={"t": 1.5})) == {("a", "a"): 0.5, ("b", "b"): 0.5, ("c", "c"): 0.5}

    def test_without_rates_there_is_none(self, client: httpx.Client) -> None:
        found = plan(client)
        assert (found["traffic"], found["comparison"][0]["traffic"]) == (None, None)

    def test_what_members_own_is_before(self, client: httpx.Client) -> None:
        members = [owning("m-a", "a", 1, 4), owning("m-b", "b", 0, 3), owning("m-c", "c", 2, 5)]
        found = traffic(client, members=members)
        assert (found["before"]["cross_rack_bytes_per_s"], found["cross_rack_bytes_per_s"]) == (29, 0)
        assert traffic(client)["before"] is None

    def test_unknown_racks_are_a_pair_of_their_own(self, client: httpx.Client) -> None:
        members = [member("m-a", "a"), member("m-b"), member("m-c", "c")]
        found = traffic(client, members=members, brokers=[{"id": 1}, *brokers()[1:]], assignor="roundrobin")
        assert pairs(found) == {(None, "a"): 9, ("b", None): 20, ("c", "c"): 34}
        assert (found["unknown_bytes_per_s"], found["cross_rack_bytes_per_s"]) == (29, 0)
        assert found["replication_bytes_per_s"] == 0
        copied = traffic(client, members=members, brokers=[{"id": 1}, *brokers()[1:]], topics=[topic(replicas=2)])
        assert copied["replication_bytes_per_s"] is None

    def test_topics_without_a_rate_are_named(self, client: httpx.Client) -> None:
        topics, members = [topic(), topic("u", 3)], [member("m-a", "a", "t", "u")]
        found = plan(client, topics=topics, members=members, bytes_per_s=RATES)
        assert found["traffic"]["unrated_partitions"] == 3
        (warning,) = [each for each in found["warnings"] if each["code"] == "partitions_without_rate"]
        assert warning["topics"] == ["u"]
        assert "partitions_without_rate" not in codes(plan(client, bytes_per_s=RATES))

    def test_members_of_share_groups_divide_partitions_in_no_known_way(self, client: httpx.Client) -> None:
        found = plan(client, assignor="simple", bytes_per_s=RATES, events=[{"leave": "m-a"}])
        assert (found["traffic"], found["steps"][0]["pause"]) == (None, None)

    def test_a_snapshots_rates_are_the_default(self, client: httpx.Client) -> None:
        partitions = [
            {"partition": number, "replicas": [1 + number % 3], "ingress_bytes_per_s": rate}
            for number, rate in enumerate(RATES["t"])
        ]
        body = {"cluster": "rated", "brokers": brokers(), "topics": [{"name": "t", "partitions": partitions}]}
        snapshot = client.post("/v1/snapshots", json=body).json()
        found = plan(client, snapshot_id=snapshot["id"], brokers=None, topics=None)
        assert (found["traffic"]["rates"], pairs(found["traffic"])) == ("snapshot", pairs(traffic(client)))
        assert "bytes_per_s" not in found["locality"]

    def test_whole_rates_are_one_request_however_they_are_written(self, client: httpx.Client) -> None:
        hashes = {
            plan(client, bytes_per_s={"t": rates})["hash"] for rates in ([1000] * 6, [1000.0] * 6, ["1 kB/s"] * 6)
        }
        default = plan(client, bytes_per_s={"t": [1000] * 6}, follower_fetching=False)
        assert hashes == {default["hash"]}
        assert not {"follower_fetching", "prices", "rebalance_seconds"} & default["request"].keys()
        assert {type(rate) for rate in default["request"]["bytes_per_s"]["t"]} == {int}
        assert plan(client, bytes_per_s={"t": [1000] * 6}, follower_fetching=True)["hash"] not in hashes


class TestChanges:
    """Each row equals a plan of the changed request."""

    BODY: Json = {  # noqa: RUF012 -- not changed
        "members": [member("m-0", "b"), member("m-1", "c"), member("m-2", "c")],
        "topics": [topic(partitions=7, replicas=2)],
        "bytes_per_s": {"t": [8, 4, 2, 1, 16, 32, 64]},
        "assignor": "roundrobin",
    }

    def _sums(self, client: httpx.Client, **changed: Any) -> list[float]:
        found = traffic(client, **self.BODY | changed)
        return [found[name] for name in SUMS]

    @pytest.mark.parametrize("follower_fetching", [False, True])
    @pytest.mark.parametrize("assignor", ["range", "uniform"])
    def test_rows_are_those_of_the_changed_request(
        self, client: httpx.Client, assignor: str, follower_fetching: bool
    ) -> None:
        base: Json = {"assignor": assignor, "follower_fetching": follower_fetching}
        found = traffic(client, **self.BODY | base)
        of = {(each["change"], each["value"]): [each[name] for name in SUMS] for each in found["if"]}
        changed = {"follower_fetching": not follower_fetching}
        assert of["follower_fetching", not follower_fetching] == self._sums(client, **base | changed)
        others = [
            name
            for name, one in ASSIGNORS.items()
            if one.runs_on == ASSIGNORS[assignor].runs_on and one.is_exclusive and name != assignor
        ]
        assert others
        for name in others:
            assert of["assignor", name] == self._sums(client, **base | {"assignor": name})
        if follower_fetching:
            assert of["optimum", None] == self._sums(client, **base | {"assignor": "optimal"})

    def test_leaders_move_to_readers(self, client: httpx.Client) -> None:
        """Of 0 3 6 in b, 1 4 in c and 2 5 in c: all have a replica in their reader's rack."""
        partitions = [{"partition": number, "replicas": [2, 1] if number % 3 == 0 else [3, 2] if number % 3 == 1
                       else [3, 1]} for number in range(7)]  # fmt: skip
        led = self._sums(client, topics=[{"name": "t", "partitions": partitions}])
        found = row(traffic(client, **self.BODY), "preferred_leaders")
        assert [found[name] for name in SUMS] == led == [0, 0, 0]

    def test_one_more_replica_costs_replication(self, client: httpx.Client) -> None:
        """With one replica each, led in a, b and c: the member of b reads 0 3 6, the members of c 1 4 and 2 5."""
        body = self.BODY | {"topics": [topic(partitions=7)], "follower_fetching": True}
        found = traffic(client, **body)
        more = row(found, "one_more_replica")
        assert (found["cross_rack_bytes_per_s"], found["replication_bytes_per_s"]) == (8 + 1 + 64 + 4 + 16, 0)
        assert (more["cross_rack_bytes_per_s"], more["replication_bytes_per_s"]) == (0, 127)

    def test_changes_without_effect_are_left_out_with_the_reason(self, client: httpx.Client) -> None:
        left_out = traffic(client, topics=[topic(replicas=3)], assignor="roundrobin")["left_out"]
        assert [(each["change"], each["value"]) for each in left_out] == [
            ("preferred_leaders", None), ("one_more_replica", None)
        ]  # fmt: skip
        assert all(each["reason"] for each in left_out)

    def test_assignors_that_a_release_does_not_have_are_left_out(self, client: httpx.Client) -> None:
        body = {"assignor": "optimal", "kafka_version": "3.9"}
        assert not [each for each in traffic(client, **body)["if"] if each["change"] == "assignor"]

    def test_large_groups_have_no_changes(self, client: httpx.Client) -> None:
        found = traffic(client, topics=[{"name": "t", "partitions": 100_001}], bytes_per_s={"t": 1e6})
        assert (found["if"], len({each["reason"] for each in found["left_out"]})) == ([], 1)
        assert found["unknown_bytes_per_s"] == pytest.approx(1e6)


class TestPauses:
    """A member leaves, which owned 0 and 3 of 9 bytes/s; under `uniform` 0 and 1 of 12."""

    @pytest.mark.parametrize(
        ("assignor", "partitions", "seconds", "lag"),
        [("roundrobin", 6, 3, 63 * 3), ("cooperative-sticky", 2, 3, 9 * 3), ("uniform", 2, 5, 12 * 5)],
    )
    def test_by_protocol(self, client: httpx.Client, assignor: str, partitions: int, seconds: float, lag: int) -> None:
        found = plan(client, assignor=assignor, bytes_per_s=RATES, events=[{"leave": "m-a"}])
        expected = {"partitions": partitions, "seconds": seconds, "is_default": True, "lag_bytes": lag}
        assert found["steps"][0]["pause"] == expected

    def test_stated_seconds(self, client: httpx.Client) -> None:
        found = plan(client, assignor="range", bytes_per_s=RATES, rebalance_seconds=0.5, events=[{"lose_rack": "a"}])
        pause = found["steps"][0]["pause"]
        assert (pause["seconds"], pause["is_default"], pause["lag_bytes"]) == (0.5, False, 32)

    def test_each_member_of_a_rolling_restart_pauses_twice(self, client: httpx.Client) -> None:
        """A dynamic member leaves and joins again: two eager rebalances."""
        steps = plan(client, assignor="range", bytes_per_s=RATES, events=[{"rolling_restart": True}])["steps"]
        assert [step["pause"]["seconds"] for step in steps] == [3 * len(step["rebalances"]) for step in steps]
        static = [each | {"group_instance_id": each["member_id"]} for each in three()]
        steps = plan(client, assignor="range", members=static, events=[{"rolling_restart": True}])["steps"]
        assert {(step["pause"]["partitions"], step["pause"]["seconds"]) for step in steps} == {(0, 0)}

    def test_lag_is_unknown_without_rates(self, client: httpx.Client) -> None:
        pause = plan(client, events=[{"leave": "m-a"}])["steps"][0]["pause"]
        assert (pause["partitions"], pause["lag_bytes"]) == (6, None)


class TestReassignment:
    """A reassignment has the traffic of the recorded groups, by the same rule as plans of the groups."""

    def _snapshot(self, client: httpx.Client) -> Json:
        topics = [
            {"name": "t", "partitions": [each | {"ingress_bytes_per_s": rate, "size_bytes": 1}
             for each, rate in zip(topic(replicas=2)["partitions"], RATES["t"], strict=True)]}
        ]  # fmt: skip
        assigned = {"m-a": [0, 1], "m-b": [2, 3], "m-c": [4, 5]}
        members = [each | {"assigned_partitions": {"t": assigned[each["member_id"]]}} for each in three()]
        group = {"group_id": "g", "state": "Stable", "assignor": "range", "members": members}
        body = {"cluster": "led", "brokers": brokers(), "topics": topics, "groups": [group]}
        response = client.post("/v1/snapshots", json=body)
        assert response.status_code == 201, response.text
        return {"snapshot_id": response.json()["id"]}

    def test_before_is_that_of_the_group_and_leaders_lower_it(self, client: httpx.Client) -> None:
        """With all leaders in b, reads of m-b do not cross: of its 2 and 3, 2 has no replica in b."""
        snapshot = self._snapshot(client)
        grouped = plan(client, **snapshot, group="g", brokers=None, topics=None)["traffic"]
        body = {"leaders_only": True, "preferred_racks": {"t": ["b"]}, "prices": {"cross_rack_per_gib": 1e6}}
        done = client.post("/v1/plans/reassignment", json=snapshot | body)
        assert done.status_code == 201, done.text
        (of,) = done.json()["cross_rack"]["groups"]
        assert (of["group_id"], of["unknown_bytes_per_s"]) == ("g", 0)
        before = grouped["before"]["cross_rack_bytes_per_s"]
        assert of["before_bytes_per_s"] == before
        items = client.get(f"/v1/plans/{done.json()['id']}/partitions").json()["items"]
        leaders = {each["partition"]: each["replicas"][0] for each in items}
        readers = {0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 5: 3}
        expected = sum(
            rate for number, rate in enumerate(RATES["t"]) if leaders.get(number, 1 + number % 3) != readers[number]
        )
        assert of["after_bytes_per_s"] == expected != before
        assert of["after_cost_per_month"] == pytest.approx(expected * MONTH_S / GIB * 1e6, abs=0.01)


class TestBadInput:
    """Wrong statements of a request, by name and number."""

    @pytest.mark.parametrize("field", ["ingress_bytes_per_s", "lag"])
    def test_a_topic_that_is_not_there(self, client: httpx.Client, field: str) -> None:
        rejection = problem(ask(client, **{field: {"tt": 1}}), 422, "conflicting_fields")
        assert only_error(rejection, f"/{field}/tt")["value"] == "tt"

    def test_both_names_of_the_rates(self, client: httpx.Client) -> None:
        rejection = problem(ask(client, ingress_bytes_per_s={"t": 1}, bytes_per_s={"t": 1}), 422, "validation")
        only_error(rejection, "/bytes_per_s")

    @pytest.mark.parametrize("field", ["ingress_bytes_per_s", "lag"])
    def test_values_of_another_number_of_partitions(self, client: httpx.Client, field: str) -> None:
        rejection = problem(ask(client, **{field: {"t": [1, 2]}}), 422, "conflicting_fields")
        only_error(rejection, f"/{field}/t")
        assert "6 partitions" in rejection["detail"]
        assert "2 are given" in rejection["detail"]

    @pytest.mark.parametrize(
        "body",
        [
            {"bytes_per_s": {"t": -1}},
            {"bytes_per_s": {"t": [1, 2, 3, 4, 5, -0.5]}},
            {"prices": {"cross_rack_per_gib": -0.01}},
            {"rebalance_seconds": -1},
        ],
    )
    def test_what_is_negative(self, client: httpx.Client, body: Json) -> None:
        problem(ask(client, **body), 422, "validation")

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
    def test_what_is_no_number(self, client: httpx.Client, number: str) -> None:
        text = '{"brokers": [], "topics": [], "members": [], "bytes_per_s": {"t": %s}}' % number  # noqa: UP031 -- JSON
        response = client.post("/v1/plans/group", content=text, headers={"Content-Type": "application/json"})
        assert response.status_code in {400, 422}
