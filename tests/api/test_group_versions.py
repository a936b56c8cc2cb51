"""`kafka_version` in `/v1/plans/group`: the release that assigns, and features that it lacks."""

import httpx
import pytest

from tests.api.contract import only_error, problem
from tests.api.group_requests import ask, member, owning, plan


def three_of_seven() -> list[dict[str, object]]:
    """The last member has one partition more than the others."""
    return [owning("m-a", None, 0, 1), owning("m-b", None, 2, 3), owning("m-c", None, 4, 5, 6)]


@pytest.mark.parametrize(
    ("version", "releases", "sizes"),
    [
        (None, {"from": "4.0.1", "to": "4.4"}, {"m-a": 2, "m-b": 2, "m-c": 3}),
        ("4.0.0", {"from": "4.0.0", "to": "4.0.0"}, {"m-a": 3, "m-b": 2, "m-c": 2}),
        ("4.0.1", {"from": "4.0.1", "to": "4.4"}, {"m-a": 2, "m-b": 2, "m-c": 3}),
        ("4.4", {"from": "4.0.1", "to": "4.4"}, {"m-a": 2, "m-b": 2, "m-c": 3}),
    ],
)
def test_uniform_leaves_the_extra_partition_to_its_owner_since_4_0_1(
    client: httpx.Client, version: str | None, releases: dict[str, str], sizes: dict[str, int]
) -> None:
    topics = [{"name": "t", "partitions": [{"partition": p, "replicas": [1]} for p in range(7)]}]
    found = plan(client, assignor="uniform", members=three_of_seven(), topics=topics, kafka_version=version)
    assert found["kafka"] == releases
    assert {name: len(by_topic["t"]) for name, by_topic in found["assignment"].items()} == sizes


@pytest.mark.parametrize(("version", "reads"), [("4.0.1", 6), ("4.1", 3), ("4.2.1", 3)])
def test_a_share_group_is_divided_since_4_1(client: httpx.Client, version: str, reads: int) -> None:
    members = [member("a"), member("b")]
    found = plan(client, assignor="simple", members=members, kafka_version=version)
    assert {len(by_topic["t"]) for by_topic in found["assignment"].values()} == {reads}


def test_an_assignor_that_the_release_does_not_have_is_named_with_its_first_release(client: httpx.Client) -> None:
    error = problem(ask(client, assignor="uniform", kafka_version="3.9"), 422, "assignor_unavailable")
    assert error["minimum"] == "4.0.0"
    assert plan(client, assignor="range", kafka_version="3.9")["kafka"] is None


@pytest.mark.parametrize("version", ["2.3", "5.0", "four"])
def test_a_release_that_is_not_supported_is_rejected_with_the_limits(client: httpx.Client, version: str) -> None:
    body = problem(ask(client, kafka_version=version), 422, "unsupported_kafka_version")
    assert (body["minimum"], body["maximum"]) == ("2.4", "4.4")
    only_error(body, "/kafka_version")


def test_the_optimum_is_of_no_release(client: httpx.Client) -> None:
    assert plan(client, assignor="optimal", kafka_version="4.2")["kafka"] is None


@pytest.mark.parametrize(
    ("version", "exception", "message"),
    [
        ("4.2.1", "RuntimeException", "Error reading byte array of 5 byte(s): only 4 byte(s) available"),
        ("4.2.2", "SchemaException", "Malformed consumer protocol subscription"),
        ("4.3.1", "RuntimeException", "Error reading byte array of 5 byte(s): only 4 byte(s) available"),
        ("4.4", "SchemaException", "Malformed consumer protocol subscription"),
    ],
)
def test_bytes_that_clients_cannot_read_raise_the_exception_of_the_release(
    client: httpx.Client, version: str, exception: str, message: str | None
) -> None:
    """KAFKA-20570: the readers' own exceptions are wrapped."""
    corrupt = {"member_id": "m", "member_metadata": "AAMAAAAA/////wAAAAD/////AAV6w7Ru"}
    body = problem(ask(client, members=[corrupt], kafka_version=version), 422, "corrupt_protocol_bytes")
    assert (body["kafka_exception"], body["kafka_message"]) == (exception, message)
