"""A body with a repeated member is a 400 that names it, wherever JSON is taken."""

import httpx
import pytest

from tests.api.contract import problem

JSON = {"Content-Type": "application/json"}
PATHS = [
    "/v1/snapshots",
    "/v1/plans/replicas",
    "/v1/plans/reassignment",
    "/v1/plans/group",
    "/v1/plans/streams",
    "/v1/checks",
    "/v1/keys/partitions",
    "/v1/sweeps",
    "/v1/webhooks",
]


@pytest.mark.parametrize("path", PATHS)
def test_every_operation_names_it(client: httpx.Client, path: str) -> None:
    body = '{"cluster":"a","brokers":[],"cluster":"b"}'
    answer = problem(client.post(path, content=body, headers=JSON), 400, "malformed_body")
    assert answer["detail"] == 'the body is not JSON: the member "cluster" comes twice in one object'


def test_at_any_depth(client: httpx.Client) -> None:
    body = '{"cluster":"a","brokers":[{"id":1,"rack":"a","rack":"b"}]}'
    answer = problem(client.post("/v1/snapshots", content=body, headers=JSON), 400, "malformed_body")
    assert '"rack"' in answer["detail"]


def test_in_a_text(client: httpx.Client) -> None:
    text = '{"version":1,"version":1,"brokers":[]}'
    answer = problem(
        client.post("/v1/snapshots", files={"log_dirs": text}, data={"cluster": "c"}), 422, "malformed_text"
    )
    assert 'the member "version" comes twice' in answer["detail"]
