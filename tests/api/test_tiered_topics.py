"""Topics of which a part is in remote storage: only bytes on disks move."""

from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem

TIERED = {"remote.storage.enable": "true"}


def _planned(client: httpx.Client, cluster: str, configs: dict[str, str], **sizes: int) -> Any:
    """The plan that removes broker 1, which has two of three replicas."""
    partitions = [{"partition": p, "replicas": [1 if p < 2 else 2], **sizes} for p in range(3)]
    body = {
        "cluster": cluster,
        "brokers": [{"id": broker} for broker in (1, 2, 3)],
        "topics": [{"name": "t", "configs": configs, "partitions": partitions}],
    }
    client.post("/v1/snapshots", json=body).raise_for_status()
    answer = client.post("/v1/plans/reassignment", json={"cluster": cluster, "remove_brokers": [1]})
    return answer.raise_for_status().json()


def _codes(plan: Any) -> set[str]:
    return {warning["code"] for warning in plan["warnings"]}


def test_what_is_on_disks_is_copied(client: httpx.Client) -> None:
    """The bytes moved are local ones, as of a topic that has no others; the rule is in a warning."""
    tiered = _planned(client, "tiered", TIERED, local_bytes=10, size_bytes=100, remote_bytes=95)
    plain = _planned(client, "plain", {}, size_bytes=10)
    assert tiered["certificate"]["moved_bytes"] == plain["certificate"]["moved_bytes"] == 20
    assert [batch["moved_bytes"] for batch in tiered["batches"]] == [batch["moved_bytes"] for batch in plain["batches"]]
    assert _codes(tiered) - _codes(plain) == {"local_bytes_copied"}


@pytest.mark.parametrize(("segment", "copied"), [({}, 20), ({"segment.bytes": "7"}, 14)])
def test_the_bytes_that_are_not_uploaded_have_an_upper_bound(
    client: httpx.Client, segment: dict[str, str], copied: int
) -> None:
    """Two replicas of 10 bytes move: all of these if a segment has Kafka's 1 GiB, or an active segment of 7 each."""
    plan = _planned(client, "segments", {**TIERED, **segment}, size_bytes=10)
    [warning] = [each for each in plan["warnings"] if each["code"] == "local_bytes_copied"]
    assert f"at most {copied} bytes in all" in warning["detail"]


def test_a_topic_that_stays_has_no_warning(client: httpx.Client) -> None:
    """No replica of it is copied, since only leaders change."""
    partitions = [{"partition": p, "replicas": [1, 2], "size_bytes": 5} for p in range(4)]
    body = {
        "cluster": "stays",
        "brokers": [{"id": 1}, {"id": 2}],
        "topics": [{"name": "t", "configs": TIERED, "partitions": partitions}],
    }
    client.post("/v1/snapshots", json=body).raise_for_status()
    request = {"cluster": "stays", "leaders_only": True, "balance": {"leaders": "tight"}}
    plan = client.post("/v1/plans/reassignment", json=request).raise_for_status().json()
    assert plan["certificate"]["moved_replicas"] == 0
    assert "local_bytes_copied" not in _codes(plan)


SKIPS = "follower.fetch.last.tiered.offset.enable"


@pytest.mark.parametrize(
    ("configs", "copied"),
    [
        ({**TIERED, SKIPS: "true", "segment.bytes": "7"}, 7),
        ({**TIERED, SKIPS: "true", "segment.bytes": "70"}, 10),
        ({**TIERED, SKIPS: "true"}, 10),
        ({**TIERED, SKIPS: "false", "segment.bytes": "7"}, 10),
        ({SKIPS: "true", "segment.bytes": "7"}, 10),
    ],
)
def test_only_what_is_not_uploaded_is_copied_if_brokers_say_so(
    client: httpx.Client, configs: dict[str, str], copied: int
) -> None:
    """Two replicas of 10 bytes move: a segment of each at most; every figure of the move agrees."""
    plan = _planned(client, "not-uploaded", configs, size_bytes=10)
    assert plan["certificate"]["moved_bytes"] == plan["certificate"]["lower_bound_bytes"] == 2 * copied
    assert sum(batch["moved_bytes"] for batch in plan["batches"]) == 2 * copied
    assert sum(broker["bytes_in"] for broker in plan["movement"]) == 2 * copied
    assert sum(broker["bytes_after"] for broker in plan["movement"]) == 30
    compared = client.get(f"/v1/plans/{plan['id']}/diff").raise_for_status().json()["summary"]
    assert compared["moved_bytes"] == sum(flow["bytes"] for flow in compared["flows"]) == 2 * copied
    assert sum(broker["bytes_out"] for broker in compared["brokers"]) == 20
    progress = client.post(f"/v1/plans/{plan['id']}/progress", json={}).raise_for_status().json()
    assert progress["bytes_left"] == 2 * copied
    is_tiered, skips = "remote.storage.enable" in configs, configs[SKIPS] == "true"
    rule = {"local_bytes_not_copied" if skips else "local_bytes_copied"} if is_tiered else set()
    assert _codes(plan) & {"local_bytes_copied", "local_bytes_not_copied"} == rule


@pytest.mark.parametrize(("stated", "copied"), [({}, 7), ({SKIPS: "false"}, 10)])
def test_a_stated_default_counts_where_the_brokers_say_nothing(
    client: httpx.Client, stated: dict[str, str], copied: int
) -> None:
    """`defaults` of the request say it for all topics; a configuration that is known wins."""
    _planned(client, "stated", {**TIERED, **stated, "segment.bytes": "7"}, size_bytes=10)
    request = {
        "cluster": "stated",
        "remove_brokers": [1],
        "defaults": {"follower_fetch_last_tiered_offset": True},
    }
    plan = client.post("/v1/plans/reassignment", json=request).raise_for_status().json()
    assert plan["certificate"]["moved_bytes"] == 2 * copied


def test_batches_have_place_for_all_that_a_replica_will_have(client: httpx.Client) -> None:
    """A new replica copies 7 of 10 bytes, and disks have place for 10 of each: one of 9 fits nothing."""
    _planned(client, "disks", {**TIERED, SKIPS: "true", "segment.bytes": "7"}, size_bytes=10)
    request = {
        "cluster": "disks",
        "remove_brokers": [1],
        "capacity": {"*": {"disk_bytes": 19}},
        "batches": {"max_disk_share": 1.0},
    }
    answer = client.post("/v1/plans/reassignment", json=request)
    assert answer.json()["code"] == "batches_out_of_disk", answer.text
    request["capacity"] = {"*": {"disk_bytes": 20}}
    plan = client.post("/v1/plans/reassignment", json=request).raise_for_status().json()
    assert plan["certificate"]["moved_bytes"] == 14


@pytest.mark.parametrize("place", [0, 2])
def test_no_more_is_on_a_disk_than_there_is(client: httpx.Client, place: int) -> None:
    partitions: list[dict[str, Any]] = [{"partition": 2 - p, "replicas": [1], "size_bytes": 9} for p in range(3)]
    partitions[place]["local_bytes"] = 10
    body = {"cluster": "c", "brokers": [{"id": 1}], "topics": [{"name": "t", "partitions": partitions}]}
    error = only_error(
        problem(client.post("/v1/snapshots", json=body), 422, "conflicting_fields"),
        f"/topics/0/partitions/{place}/local_bytes",
    )
    assert (error["value"], error["limit"]) == (10, 9)
