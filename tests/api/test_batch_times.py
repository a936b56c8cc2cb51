"""How long the batches of a plan take, and the throttle that lets them complete."""

from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem

Json = dict[str, Any]
MB = 1_000_000


def _plan(client: httpx.Client, *, capacity: Json | None = None, copied: int = 1, **fields: Any) -> Json:
    brokers = [{"id": broker} | ({"capacity": capacity} if capacity else {}) for broker in (1, 2, 3)]
    partition = {"partition": 0, "replicas": [1, 2], "size_bytes": 600 * MB}
    body = {"cluster": "times", "brokers": brokers, "topics": [{"name": "orders", "partitions": [partition]}]}
    assert client.post("/v1/snapshots", json=body).status_code == 201
    response = client.post("/v1/plans/reassignment", json={"cluster": "times", "remove_brokers": [2], **fields})
    assert response.status_code == 201, response.text
    plan: Json = response.json()
    assert [batch["moved_replicas"] for batch in plan["batches"]] == [copied]
    return plan


def _times(plan: Json) -> tuple[float | None, bool | None]:
    [batch] = plan["batches"]
    return batch["seconds"], batch["completes"]


def test_a_throttle_alone(client: httpx.Client) -> None:
    plan = _plan(client, batches={"throttle_bytes_per_s": 10 * MB})
    assert _times(plan) == (60, True)
    assert plan["recommended_throttle_bytes_per_s"] is None


def test_the_leader_sends_though_another_is_preferred(client: httpx.Client) -> None:
    """Broker 1 is preferred for both partitions and leads one, so that two brokers send one each."""
    partitions = [{"partition": p, "replicas": [1, 2], "leader": 1 + p, "size_bytes": 600 * MB} for p in (0, 1)]
    body = {"cluster": "led", "brokers": [{"id": broker} for broker in (1, 2, 3, 4)]}
    body |= {"topics": [{"name": "orders", "partitions": partitions}]}
    assert client.post("/v1/snapshots", json=body).status_code == 201
    pins = [{"topic": "orders", "partition": p, "replicas": [1, 2, 3 + p]} for p in (0, 1)]
    limits = {"throttle_bytes_per_s": 10 * MB, "max_moves_out_per_broker": 1}
    response = client.post("/v1/plans/reassignment", json={"cluster": "led", "pins": pins, "batches": limits})
    assert response.status_code == 201, response.text
    plan = response.json()
    assert [(batch["moved_replicas"], batch["seconds"]) for batch in plan["batches"]] == [(2, 60)]
    progress = client.post(f"/v1/plans/{plan['id']}/progress", json={"cluster": "led"}).json()
    assert progress["seconds_left"] == 60


def test_nothing_is_known(client: httpx.Client) -> None:
    assert _times(_plan(client)) == (None, None)


def test_a_batch_that_copies_nothing_takes_no_time(client: httpx.Client) -> None:
    """Whether or not anything is known that limits copying."""
    only_leaders: Json = {"copied": 0, "remove_brokers": [], "evacuate_leaders": {"brokers": [1]}}
    assert _times(_plan(client, **only_leaders)) == (0, True)
    assert _times(_plan(client, **only_leaders, batches={"throttle_bytes_per_s": 10 * MB})) == (0, True)


def test_record_batches_that_fetches_cut_off(client: httpx.Client) -> None:
    """Of batches of 800 kB one fits in a fetch of 1 MiB. The rest takes as long as the plan; null is not stated."""
    stated: Json = {"throttle_bytes_per_s": 10 * MB, "record_batch_bytes": 800_000}
    plan = _plan(client, batches=stated)
    seconds, completes = _times(plan)
    assert completes
    assert seconds == pytest.approx(60 * 2**20 / 800_000)
    progress = client.post(f"/v1/plans/{plan['id']}/progress", json={"cluster": "times"}).json()
    assert progress["seconds_left"] == plan["batches"][0]["seconds"]
    unstated = [_plan(client, batches=stated | {"record_batch_bytes": None})["hash"]]
    unstated.append(_plan(client, batches={"throttle_bytes_per_s": 10 * MB})["hash"])
    assert unstated[0] == unstated[1] != plan["hash"]
    rates: Json = {"ingress_bytes_per_s": {"orders": 4 * MB}}
    assert _plan(client, batches=stated, **rates)["recommended_throttle_bytes_per_s"] == 20 * MB


def test_what_producers_write_meanwhile(client: httpx.Client) -> None:
    rates = {"orders": 4 * MB}
    assert _times(_plan(client, batches={"throttle_bytes_per_s": 10 * MB}, ingress_bytes_per_s=rates)) == (100, True)
    plan = _plan(client, batches={"throttle_bytes_per_s": 4 * MB}, ingress_bytes_per_s=rates)
    assert _times(plan) == (None, False)
    assert "batch_never_completes" in [warning["code"] for warning in plan["warnings"]]
    recommended = plan["recommended_throttle_bytes_per_s"]
    assert recommended == 10 * MB
    assert _times(_plan(client, batches={"throttle_bytes_per_s": recommended}, ingress_bytes_per_s=rates)) == (
        100,
        True,
    )


def test_the_network_beside_its_traffic(client: httpx.Client) -> None:
    """The new replica's broker receives nothing yet; the leader's sends 4 MB/s to its follower, and 6 are left."""
    capacity = {"nic_in_bytes_per_s": 20 * MB, "nic_out_bytes_per_s": 10 * MB}
    plan = _plan(client, capacity=capacity, ingress_bytes_per_s={"orders": 4 * MB})
    assert _times(plan) == (300, True)
    assert plan["recommended_throttle_bytes_per_s"] is None  # 2 × 4 MB/s are more than there is


@pytest.mark.parametrize("throttle", [0, -1, 2**63, 1.5])
def test_a_throttle_that_is_none(client: httpx.Client, throttle: float) -> None:
    body = {"cluster": "times", "batches": {"throttle_bytes_per_s": throttle}}
    found = problem(client.post("/v1/plans/reassignment", json=body), 422, "validation")
    assert only_error(found, "/batches/throttle_bytes_per_s")["value"] == throttle
