"""`POST /v1/plans/replicas` with the algorithm awareness: each bad input its own problem."""

from typing import Any

import httpx
import pytest

from tests.api.aware_requests import SIX, aware, brokers
from tests.api.contract import only_error, place, problem, topic


class TestBadInput:
    """Each its own problem, with its place, its value and its limit."""

    @pytest.mark.parametrize("algorithm", ["admin_utils", "striped"])
    @pytest.mark.parametrize(
        ("name", "value"), [("policy", "spread"), ("attributes", ["zone"]), ("forced", {"zone": ["z1"]})]
    )
    def test_rules_without_awareness(self, client: httpx.Client, algorithm: str, name: str, value: Any) -> None:
        found = place(client, algorithm=algorithm, **{name: value})
        only_error(problem(found, 422, "conflicting_fields"), f"/{name}")

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"policy": "random"}, "/policy"),
            ({"attributes": []}, "/attributes"),
            ({"attributes": [""]}, "/attributes/0"),
            ({"attributes": "zone"}, "/attributes"),
            ({"attributes": [f"a{i}" for i in range(17)]}, "/attributes"),
            ({"policy": "forced", "forced": {}}, "/forced"),
            ({"policy": "forced", "forced": {"zone": []}}, "/forced/zone"),
            ({"policy": "forced", "forced": {"zone": [""]}}, "/forced/zone/0"),
            ({"policy": "forced", "forced": {"zone": "z1"}}, "/forced/zone"),
            ({"brokers": [{"id": 1, "attributes": {"zone": ""}}]}, "/brokers/0/attributes/zone"),
            ({"brokers": [{"id": 1, "attributes": {"zone": 7}}]}, "/brokers/0/attributes/zone"),
            ({"brokers": [{"id": 1, "weight": 0}]}, "/brokers/0/weight"),
            ({"brokers": [{"id": 1, "weight": -1}]}, "/brokers/0/weight"),
            ({"brokers": [{"id": 1, "weight": "2"}]}, "/brokers/0/weight"),
        ],
    )
    def test_fields(self, client: httpx.Client, fields: dict[str, Any], pointer: str) -> None:
        only_error(problem(aware(client, **fields), 422, "validation"), pointer)

    @pytest.mark.parametrize("weight", ["Infinity", "NaN", "1e999"])
    def test_a_weight_that_is_no_number(self, client: httpx.Client, weight: str) -> None:
        body = '{"algorithm":"awareness","brokers":[{"id":1,"rack":"a","weight":' + weight + '}],"topics":[]}'
        headers = {"Content-Type": "application/json"}
        assert client.post("/v1/plans/replicas", content=body, headers=headers).status_code in (400, 422)

    def test_attributes_missing_on_some_brokers(self, client: httpx.Client) -> None:
        listed = [*SIX, {"id": 7, "attributes": {"region": "us"}}, {"id": 8}]
        found = problem(aware(client, brokers=listed, attributes=["region", "zone"]), 422, "attribute_missing")
        error = only_error(found, "/attributes/0")
        assert (error["value"], error["brokers"]) == ("region", [8])
        found = problem(aware(client, brokers=listed[:-1], attributes=["region", "zone"]), 422, "attribute_missing")
        assert only_error(found, "/attributes/1")["brokers"] == [7]

    def test_the_load_of_listed_brokers_is_unknown(self, client: httpx.Client) -> None:
        found = problem(aware(client, load="replicas"), 422, "conflicting_fields")
        assert only_error(found, "/load")["value"] == "replicas"
        only_error(problem(aware(client, load="cpu"), 422, "validation"), "/load")
        of_kafka = place(client, algorithm="striped", load="replicas")
        only_error(problem(of_kafka, 422, "conflicting_fields"), "/load")

    def test_a_fenced_broker_needs_none(self, client: httpx.Client) -> None:
        assert aware(client, brokers=[*SIX, {"id": 8, "fenced": True}]).status_code == 201

    def test_an_attribute_listed_twice(self, client: httpx.Client) -> None:
        found = problem(aware(client, attributes=["zone", "region", "zone"]), 422, "duplicate_attribute")
        assert only_error(found, "/attributes/2")["value"] == "zone"

    def test_a_forced_value_listed_twice(self, client: httpx.Client) -> None:
        found = problem(aware(client, policy="forced", forced={"zone": ["a", "a"]}), 422, "duplicate_attribute")
        assert only_error(found, "/forced/zone/1")["value"] == "a"

    def test_a_forced_attribute_that_is_not_listed(self, client: httpx.Client) -> None:
        found = problem(aware(client, policy="forced", forced={"region": ["eu"]}), 422, "forced_attribute_not_listed")
        error = only_error(found, "/forced/region")
        assert (error["value"], error["attributes"]) == ("region", ["zone"])

    @pytest.mark.parametrize("fields", [{"policy": "forced"}, {"forced": {"zone": ["a"]}}])
    def test_forced_values_and_the_policy_need_each_other(self, client: httpx.Client, fields: dict[str, Any]) -> None:
        only_error(problem(aware(client, **fields), 422, "conflicting_fields"), "/forced")

    @pytest.mark.parametrize("fields", [{"rack_mode": "safe"}, {"fixed_start_index": 0}])
    def test_what_awareness_has_no_use_for(self, client: httpx.Client, fields: dict[str, Any]) -> None:
        only_error(problem(aware(client, **fields), 422, "conflicting_fields"), f"/{next(iter(fields))}")

    def test_redis_with_too_few_zones(self, client: httpx.Client) -> None:
        listed = brokers("eu/z1", "eu/z1", "eu/z1")
        found = problem(
            aware(client, topic("a", 1, 1), topic("b", 1, 2), policy="redis", brokers=listed), 422, "too_few_values"
        )
        error = only_error(found, "/topics/1/replication_factor")
        assert (error["value"], error["maximum"], error["attribute"], error["values"]) == (2, 1, "zone", 1)

    def test_more_replicas_than_brokers(self, client: httpx.Client) -> None:
        found = problem(aware(client, topic(replication_factor=7)), 422, "invalid_replication_factor")
        error = only_error(found, "/topics/0/replication_factor")
        assert (error["value"], error["maximum"]) == (7, 6)

    def test_no_live_broker(self, client: httpx.Client) -> None:
        listed = [broker | {"fenced": True} for broker in SIX]
        found = problem(aware(client, topic(replication_factor=1), brokers=listed), 422, "invalid_replication_factor")
        assert only_error(found, "/topics/0/replication_factor")["maximum"] == 0
