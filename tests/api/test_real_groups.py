"""Two groups of a real cluster, as its tools print them: predicted, and compared with the real assignments.

`billing` (range, three members in three racks) was recorded twice: as the coordinator describes it, with racks and
subscriptions, and in the tables, which have neither. `clickstream` (cooperative-sticky, unequal subscriptions) is in
the tables alone. So of the one everything is known, of the others some has to be taken for granted, and is said.
"""

import json
from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem
from tests.api.group_requests import Json, codes
from tests.conftest import SAMPLES

TABLES = (
    "kafka-consumer-groups-describe.txt",
    "kafka-consumer-groups-members-verbose.txt",
    "kafka-consumer-groups-state.txt",
)


def _sample(*names: str) -> str:
    return "\n".join((SAMPLES / name).read_text() for name in names)


@pytest.fixture
def tables(client: httpx.Client) -> str:
    """A snapshot with the output of `kafka-consumer-groups`."""
    return _snapshot(client, _sample(*TABLES))


@pytest.fixture
def described(client: httpx.Client) -> str:
    """A snapshot with the coordinator's answers."""
    return _snapshot(client, _sample("describe-groups.json"))


def _snapshot(client: httpx.Client, groups: str) -> str:
    parts = {
        "cluster": "prod",
        "brokers": _sample("kafka-broker-api-versions.txt"),
        "topics": _sample("kafka-topics-describe.txt"),
        "groups": groups,
    }
    response = client.post("/v1/snapshots", files={name: (None, text) for name, text in parts.items()})
    assert response.status_code == 201, response.text
    found: str = response.json()["id"]
    return found


def _recorded(client: httpx.Client, snapshot_id: str, group_id: str) -> dict[str, dict[str, list[int]]]:
    """The cluster's assignment, ascending."""
    groups = client.get(f"/v1/snapshots/{snapshot_id}").json()["document"]["groups"]
    (group,) = [group for group in groups if group["group_id"] == group_id]
    assigned: dict[str, Any] = {member["member_id"]: member["assigned_partitions"] for member in group["members"]}
    return _ascending({
        name: by_topic if isinstance(by_topic, dict) else {run["topic"]: run["partitions"] for run in by_topic}
        for name, by_topic in assigned.items()
    })  # fmt: skip


def _ascending(assignment: Json) -> dict[str, dict[str, list[int]]]:
    return {
        name: {topic: sorted(partitions) for topic, partitions in sorted(by_topic.items())}
        for name, by_topic in assignment.items()
    }


def _plan(client: httpx.Client, **body: Any) -> Json:
    response = client.post("/v1/plans/group", json=body)
    assert response.status_code == 201, response.text
    found: Json = response.json()
    return found


def test_billing_is_predicted_as_the_cluster_assigned_it(client: httpx.Client, described: str) -> None:
    """All is recorded, so that the lists themselves are Kafka's: their topics in the order of its hash map."""
    found = _plan(client, snapshot_id=described, group="billing", assignor="range")
    (answered,) = [json.loads(_sample("describe-groups.json"))["billing"]["members"]]
    assert found["assignment"] == {
        member["member_id"]: {
            run["topic"]: run["partitions"] for run in member["member_assignment"]["assigned_partitions"]
        }
        for member in answered
    }
    assert [list(by_topic) for by_topic in found["assignment"].values()] == [["payments", "orders"]] * 3
    assert (found["moved"], found["locality"]["in_rack"], found["optimum"]["in_rack"]) == (0, 36, 36)
    # Factor 3 over three racks: every partition is in every rack, and KIP-881 switches itself off.
    assert codes(found) == ["racks_ignored"]


@pytest.mark.parametrize(("group", "assignor"), [("billing", "range"), ("clickstream", "cooperative-sticky")])
def test_a_group_of_the_tables_stays_as_the_cluster_assigned_it(
    client: httpx.Client, tables: str, group: str, assignor: str
) -> None:
    """A stable group that rebalances for no reason; facts missing in the tables are named."""
    found = _plan(client, snapshot_id=tables, group=group, assignor=assignor)
    assert _ascending(found["assignment"]) == _recorded(client, tables, group)
    assert (found["moved"], found["settled"]) == (0, True)
    (missing,) = [each for each in found["warnings"] if each["code"] == "subscriptions_not_recorded"]
    assert set(missing["members"]) == set(found["assignment"])
    assert found["locality"]["in_rack_share"] is None


def test_clickstream_from_nothing_is_not_what_the_cluster_has(client: httpx.Client, tables: str) -> None:
    """The history that made it is not recorded; with the subscriptions it must have had, others get as much."""
    recorded = _recorded(client, tables, "clickstream")
    members = [{"member_id": name, "topics": ["clicks", "sessions"]} for name in recorded]
    fresh = _plan(client, snapshot_id=tables, members=members, assignor="cooperative-sticky")
    sizes = sorted(row["partitions"] for row in fresh["loads"]["per_member"])
    assert sizes == sorted(sum(map(len, by_topic.values())) for by_topic in recorded.values()) == [16, 16, 17, 17]
    assert _ascending(fresh["assignment"]) != recorded


def test_lag_comes_with_the_group(client: httpx.Client, tables: str) -> None:
    found = _plan(client, snapshot_id=tables, group="billing", assignor="range", balance="lag")
    groups = client.get(f"/v1/snapshots/{tables}").json()["document"]["groups"]
    lag = sum(
        max(row.get("lag") or 0, 0) for group in groups if group["group_id"] == "billing" for row in group["offsets"]
    )
    assert found["loads"]["lag"]["total"] == lag
    assert found["optimum"]["balance"] == "lag"


def test_another_assignor_would_do_the_same_or_better(client: httpx.Client, described: str) -> None:
    found = _plan(client, snapshot_id=described, group="billing", assignor=["range", "uniform", "optimal"])
    assert [line["error"] for line in found["comparison"]] == [None] * 3
    assert "topic_ids_unknown" not in codes(_plan(client, snapshot_id=described, group="billing", assignor="uniform"))


def test_a_lost_zone_of_the_real_cluster(client: httpx.Client, described: str) -> None:
    found = _plan(client, snapshot_id=described, group="billing", assignor="range", events=[{"lose_rack": "use1-az2"}])
    (step,) = found["steps"]
    assert len(step["assignment"]) == 2
    assert step["handover"]["kept"] + step["moved"] == 36
    assert step["locality"]["in_rack_share"] == 1.0


def test_a_group_that_is_not_there_names_those_that_are(client: httpx.Client, tables: str) -> None:
    response = client.post("/v1/plans/group", json={"snapshot_id": tables, "group": "ghost"})
    assert response.status_code == 422
    assert "billing, clickstream" in response.json()["detail"]


def test_an_empty_group_is_answered_as_such(client: httpx.Client, described: str) -> None:
    found = _plan(client, snapshot_id=described, group="clickstream", assignor="range")
    assert found["assignment"] == {}
    assert {"no_members", "group_not_stable"} <= set(codes(found))


RACKS = {"billing-0": "use1-az1", "billing-1": "use1-az2", "billing-2": "use1-az4"}


class TestOverrides:
    """`member_overrides`: facts missing in the tables, by member id, client id or host."""

    def test_racks_and_subscriptions_complete_the_tables(self, client: httpx.Client, tables: str) -> None:
        """With both, nothing about the members is assumed, and the plan is as good as from the coordinator's answer."""
        overrides: list[Json] = [{"client_id": name, "rack_id": rack} for name, rack in RACKS.items()]
        overrides.append({"client_id": "billing-*", "topics": ["orders", "payments"]})
        plan = _plan(client, snapshot_id=tables, group="billing", assignor="range", member_overrides=overrides)
        assert _ascending(plan["assignment"]) == _recorded(client, tables, "billing")
        assert (plan["moved"], plan["locality"]["in_rack"], plan["optimum"]["in_rack"]) == (0, 36, 36)
        assert codes(plan) == ["racks_ignored"]
        assert "no member" not in plan["warnings"][0]["detail"]

    def test_unknown_racks_are_not_said_to_be_none(self, client: httpx.Client, tables: str) -> None:
        def warnings(**fields: Any) -> dict[str, Json]:
            plan = _plan(client, snapshot_id=tables, group="billing", assignor="range", **fields)
            return {warning["code"]: warning for warning in plan["warnings"]}

        assert "not recorded" in warnings()["racks_ignored"]["detail"]
        assert "subscriptions, racks and generations of 3" in warnings()["subscriptions_not_recorded"]["detail"]
        subscribed = warnings(member_overrides=[{"host": "/127.0.0.?", "topics": ["orders", "payments"]}])
        assert "subscriptions_not_recorded" not in subscribed
        assert "the racks of 3 of 3 members" in subscribed["racks_not_recorded"]["detail"]
        without = warnings(member_overrides=[{"client_id": "*", "rack_id": ""}])
        assert "no member has one" in without["racks_ignored"]["detail"]
        assert "racks" not in without["subscriptions_not_recorded"]["detail"]

    def test_the_first_that_has_a_field_decides_it(self, client: httpx.Client, described: str, tables: str) -> None:
        member = next(iter(_recorded(client, tables, "billing")))
        overrides = [{"member_id": member, "rack_id": "use1-az1"}, {"client_id": "*", "rack_id": "use1-az4"}]
        plan = _plan(client, snapshot_id=tables, group="billing", assignor="range", member_overrides=overrides)
        assert plan["request"]["member_overrides"][0]["member_id"] == member
        assert plan["locality"]["unknown"] == 0
        # Without overrides the request, and with it the hash, is as it was before there were any.
        assert "member_overrides" not in _plan(client, snapshot_id=described, group="billing")["request"]

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"group": "billing", "member_overrides": [{"rack_id": "a"}]}, "/member_overrides/0"),
            (
                {"group": "billing", "member_overrides": [{"client_id": "*", "host": "*", "rack_id": "a"}]},
                "/member_overrides/0",
            ),
            ({"group": "billing", "member_overrides": [{"client_id": "*"}]}, "/member_overrides/0"),
            ({"members": [], "member_overrides": [{"client_id": "*", "rack_id": "a"}]}, "/member_overrides"),
        ],
    )
    def test_what_selects_no_member_is_rejected(
        self, client: httpx.Client, tables: str, fields: Json, pointer: str
    ) -> None:
        response = client.post("/v1/plans/group", json={"snapshot_id": tables, "assignor": "range", **fields})
        only_error(problem(response, 422, "conflicting_fields"), pointer)

    def test_one_that_matches_no_member_is_a_warning(self, client: httpx.Client, tables: str) -> None:
        """Members come and go between the snapshots of a group that one list of overrides is kept for."""
        overrides: list[Json] = [{"client_id": "*", "rack_id": "a"}, {"member_id": "x", "topics": []}]
        overrides.append({"host": "[/]*", "rack_id": "a"})
        plan = _plan(client, snapshot_id=tables, group="billing", assignor="range", member_overrides=overrides)
        details = [one["detail"] for one in plan["warnings"] if one["code"] == "overrides_without_member"]
        assert [detail.split(" match")[0] for detail in details] == ["2 of 3 member_overrides (1, 2)"]
        matching = _plan(client, snapshot_id=tables, group="billing", assignor="range", member_overrides=overrides[:1])
        assert "overrides_without_member" not in codes(matching)

    def test_a_topic_twice(self, client: httpx.Client, tables: str) -> None:
        body = {
            "snapshot_id": tables,
            "group": "billing",
            "member_overrides": [{"client_id": "*", "topics": ["t", "t"]}],
        }
        response = client.post("/v1/plans/group", json=body)
        only_error(problem(response, 422, "duplicate_topic"), "/member_overrides/0/topics/1")
