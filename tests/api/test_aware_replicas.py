"""`POST /v1/plans/replicas` with the algorithm awareness: every field, and the resulting plan."""

from typing import Any

import httpx
import pytest

from tests.api.aware_requests import SIX, aware, brokers
from tests.api.contract import SNAPSHOT_ID, place, topic


def rows(plan: dict[str, Any]) -> list[list[int]]:
    found: list[list[int]] = plan["topics"][0]["replicas"]
    return found


class TestPlan:
    """Properties of an aware plan."""

    def test_every_field_of_the_contract(self, client: httpx.Client) -> None:
        response = aware(client, topic(partitions=12), attributes=["region", "zone"], policy="spread", seed=42)
        assert response.status_code == 201, response.text
        plan = response.json()
        assert (plan["prediction"], plan["seed"], plan["envelope"], plan["unassigned"]) == ("pinned", 42, None, [])
        assert plan["violations"] == []
        stated = {name: plan["request"][name] for name in ("algorithm", "policy", "attributes", "forced")}
        assert stated == {"algorithm": "awareness", "policy": "spread", "attributes": ["region", "zone"], "forced": {}}
        zones = {broker["id"]: broker["attributes"]["zone"] for broker in SIX}
        assert {frozenset(zones[broker] for broker in row) for row in rows(plan)} == {
            frozenset({"eu-1", "eu-2", "us-1"})
        }
        assert client.get(response.headers["location"]).content == response.content

    def test_without_rules_it_spreads_over_racks(self, client: httpx.Client) -> None:
        listed = [{"id": i, "rack": f"r{i % 3}"} for i in range(6)]
        plan = place(client, brokers=listed, algorithm="awareness", seed=1).json()
        assert (plan["request"]["policy"], plan["request"]["attributes"]) == ("spread", ["rack"])
        assert plan["measures"]["rack_safe_share"] == 1.0

    def test_a_rack_is_the_default_of_the_attribute_rack(self, client: httpx.Client) -> None:
        """But for brokers that have another."""
        listed = [
            {"id": 1, "rack": "a"},
            {"id": 2, "rack": "a"},
            {"id": 3, "rack": "a", "attributes": {"rack": "b"}},
        ]
        plan = aware(client, topic(replication_factor=2), brokers=listed, attributes=["rack"], seed=1).json()
        assert all(3 in row for row in rows(plan))

    def test_a_missing_seed_is_chosen_returned_and_gives_the_same_plan(self, client: httpx.Client) -> None:
        generated = aware(client, topic(partitions=30)).json()
        assert isinstance(generated["seed"], int)
        assert aware(client, topic(partitions=30)).json() == generated
        replayed = aware(client, topic(partitions=30), seed=generated["seed"]).json()
        assert (rows(replayed), replayed["measures"]) == (rows(generated), generated["measures"])
        assert rows(aware(client, topic(partitions=30), seed=generated["seed"] + 1).json()) != rows(generated)

    def test_a_broker_twice_as_large_takes_twice_as_many(self, client: httpx.Client) -> None:
        listed = [{**broker, "weight": 2 if broker["id"] in (1, 3, 5) else 1} for broker in SIX]
        plan = aware(client, topic(partitions=30), brokers=listed, seed=1).json()
        for counted, single in (("replicas", 10), ("leaders", 10 / 3)):
            for broker, count in plan["measures"][counted]["per_broker"].items():
                assert abs(count - single * (2 if broker in "135" else 1)) < 1

    def test_exposure_to_the_loss_of_each_value(self, client: httpx.Client) -> None:
        """Two copies in eu, one in us: without eu one is left, without us two."""
        plan = aware(client, topic(partitions=6), attributes=["region", "zone"], seed=1).json()
        region, zone = (plan["measures"]["attributes"][name] for name in ("region", "zone"))
        assert list(plan["measures"]["attributes"]) == ["region", "zone"]
        assert region["values_per_partition"] == {"min": 2, "max": 2, "partitions": {"2": 6}}
        eu, us = region["losses"]["eu"], region["losses"]["us"]
        assert eu["partitions_leaderless"] + us["partitions_leaderless"] == 6
        without_leaders = [
            {name: count for name, count in loss.items() if name != "partitions_leaderless"} for loss in (eu, us)
        ]
        assert without_leaders == [
            {"partitions_reduced": 6, "partitions_down_to_one": 6, "partitions_offline": 0},
            {"partitions_reduced": 6, "partitions_down_to_one": 0, "partitions_offline": 0},
        ]
        assert (zone["spanning_share"], list(zone["losses"])) == (1.0, ["eu-1", "eu-2", "us-1"])

    def test_a_snapshot_carries_attributes_and_weights(self, client: httpx.Client) -> None:
        listed = [{**broker, "weight": 1.5} for broker in SIX]
        snapshot = client.post("/v1/snapshots", json={"cluster": "domains", "brokers": listed}).json()
        assert client.get(f"/v1/snapshots/{snapshot['id']}").status_code == 200
        one = aware(client, brokers=None, snapshot_id=snapshot["id"], seed=1).json()
        assert rows(one) == rows(aware(client, brokers=listed, seed=1).json())
        without = client.post("/v1/snapshots", json={"cluster": "domains", "brokers": SIX}).json()
        assert without["content_hash"] != snapshot["content_hash"]

    def test_as_a_job(self, client: httpx.Client) -> None:
        body = {
            "brokers": SIX,
            "algorithm": "awareness",
            "attributes": ["zone"],
            "policy": "redis",
            "topics": [topic()],
        }
        response = client.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"})
        assert response.status_code == 202


LOST = [
    *brokers("eu/z1", "eu/z1"),
    *[broker | {"id": broker["id"] + 2} for broker in brokers("eu/z2", fenced=True)],
]
"""Zone z2 has one broker, and that is fenced."""


class TestForced:
    """The share of a value without a live broker stays unassigned, and everything that shows a plan lives with it."""

    def _plan(self, client: httpx.Client, **fields: Any) -> dict[str, Any]:
        body = {"brokers": LOST, "policy": "forced", "forced": {"zone": ["z1", "z2"]}, "seed": 1} | fields
        response = aware(client, topic("orders", 4, 2), **body)
        assert response.status_code == 201, response.text
        plan: dict[str, Any] = response.json()
        return plan

    def test_it_is_listed(self, client: httpx.Client) -> None:
        plan = self._plan(client)
        assert sorted(row for row in rows(plan)) == [[1], [1], [2], [2]]
        assert plan["unassigned"] == [
            {"topic": "orders", "replicas_per_partition": 1, "partitions": 4, "replicas": 4, "values": {"zone": ["z2"]}}
        ]
        codes = [warning["code"] for warning in plan["warnings"]]
        assert codes == ["fenced_brokers_left_out", "replicas_unassigned"]
        listed = client.get(f"/v1/plans/{plan['id']}/partitions").json()["items"]
        assert [row["unassigned"] for row in listed] == [1] * 4

    def test_spread_crowds_the_survivors_instead(self, client: httpx.Client) -> None:
        plan = self._plan(client, policy="spread", forced=None)
        assert {len(row) for row in rows(plan)} == {2}
        assert plan["unassigned"] == []

    def test_when_the_zone_is_back_nothing_is_unassigned(self, client: httpx.Client) -> None:
        plan = self._plan(client, brokers=[broker | {"fenced": False} for broker in LOST])
        assert all(3 in row for row in rows(plan))
        assert (plan["unassigned"], plan["violations"]) == ([], [])

    def test_a_value_that_no_broker_has_is_a_warning(self, client: httpx.Client) -> None:
        plan = self._plan(client, forced={"zone": ["z1", "z2", "z9"]})
        assert plan["unassigned"][0]["values"] == {"zone": ["z2", "z9"]}
        warning = next(each for each in plan["warnings"] if each["code"] == "forced_value_without_broker")
        assert "z9" in warning["detail"]

    @pytest.mark.parametrize("name", ["reassignment", "replica_assignment", "csv", "markdown", "arrow"])
    def test_exports(self, client: httpx.Client, name: str) -> None:
        plan = self._plan(client)
        found = client.get(f"/v1/plans/{plan['id']}/export", params={"format": name})
        assert found.status_code == 200
        assert found.content

    def test_pages_pictures_and_differences(self, client: httpx.Client) -> None:
        plan = self._plan(client)
        back = self._plan(client, brokers=[broker | {"fenced": False} for broker in LOST])
        picture = client.get(f"/v1/plans/{plan['id']}/picture.svg").text
        assert "no rack" not in picture, "brokers stand in their values of the first attribute"
        page = client.get(f"/plans/{plan['id']}")
        assert page.status_code == 200
        assert "No controller places by these attributes" in page.text
        found = client.get(f"/v1/plans/{plan['id']}/diff", params={"against": back["id"]}).json()
        assert found["summary"]["replicas_removed"] >= 4


class TestPolicies:
    def test_redis_leads_alone(self, client: httpx.Client) -> None:
        plan = aware(client, topic(partitions=20), policy="redis", attributes=["region"], seed=3).json()
        eu = {1, 2, 3, 4}
        # A leader in eu would leave only two brokers for two followers, and one in us four.
        assert {frozenset(row) & eu == frozenset(row[1:]) or row[0] in eu for row in rows(plan)} == {True}
        assert plan["violations"] == []

    def test_hdfs_pairs(self, client: httpx.Client) -> None:
        plan = aware(client, topic(partitions=20), policy="hdfs", seed=3).json()
        zone = {broker["id"]: broker["attributes"]["zone"] for broker in SIX}
        for first, second, third in rows(plan):
            assert zone[first] == zone[second] != zone[third]

    def test_a_zone_that_cannot_lead_is_named(self, client: httpx.Client) -> None:
        listed = brokers("eu/z1", "eu/z1", "eu/z2")
        plan = aware(client, topic(replication_factor=3), policy="redis", brokers=listed, seed=1).json()
        assert {row[0] for row in rows(plan)} == {3}
        warning = next(each for each in plan["warnings"] if each["code"] == "values_never_lead")
        assert "z1" in warning["detail"]


def test_a_snapshot_without_attributes_keeps_its_hash(client: httpx.Client) -> None:
    """Saying the defaults says nothing."""
    said = {"id": 1, "rack": "a", "attributes": {}, "weight": 1}
    one, other = (
        client.post("/v1/snapshots", json={"cluster": "hashed", "brokers": [broker]}).json()
        for broker in (said, {"id": 1, "rack": "a"})
    )
    assert one["content_hash"] == other["content_hash"]
    assert one["id"] != SNAPSHOT_ID


def test_a_check_measures_by_attribute_where_brokers_have_some(client: httpx.Client) -> None:
    """An assignment from elsewhere: both replicas in eu-1 go with it."""
    partitions = [{"partition": 0, "replicas": [1, 3]}]
    body = {"cluster": "checked", "brokers": SIX, "topics": [{"name": "t", "partitions": partitions}]}
    snapshot_id = client.post("/v1/snapshots", json=body).json()["id"]
    moved = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]}
    found = client.post("/v1/checks", json={"snapshot_id": snapshot_id, "reassignment": moved}).json()
    by_attribute = found["measures"]["attributes"]
    assert list(by_attribute) == ["region", "zone"]
    assert by_attribute["zone"]["losses"]["eu-1"]["partitions_offline"] == 1
    assert by_attribute["zone"]["spanning_share"] == 0
