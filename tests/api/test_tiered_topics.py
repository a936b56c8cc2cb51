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
