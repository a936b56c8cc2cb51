"""`/v1/keys/partitions`."""

from base64 import b64encode
from math import gcd
from typing import Any

import httpx
import pytest

from app.core.keys.partitioners import PARTITIONERS
from tests.api.contract import only_error, problem


def ask(client: httpx.Client, **body: Any) -> httpx.Response:
    """Keys placed."""
    return client.post("/v1/keys/partitions", json={"partitions": 12, "partitioner": "murmur2"} | body)


class TestPlaceKeys:
    """Which partition each key goes to."""

    def test_it_is_kafkas_murmur2(self, client: httpx.Client) -> None:
        """Of the Java client's own tests: murmur2("21") is -973932308, murmur2("foobar") is -790332482."""
        found = ask(client, keys=["21", "foobar"], partitions=1000).json()
        expected = [(-973932308 & 0x7FFFFFFF) % 1000, (-790332482 & 0x7FFFFFFF) % 1000]
        assert found["partitioners"][0]["partition_by_key"] == expected

    def test_encodings_of_the_same_bytes_agree(self, client: httpx.Client) -> None:
        numbers = [0, 1, -1, 2**31 - 1, -(2**31)]
        as_bytes = [b64encode(number.to_bytes(4, "big", signed=True)).decode() for number in numbers]
        written = ask(client, keys=numbers, encoding="int32").json()
        assert written == ask(client, keys=as_bytes, encoding="base64").json()
        assert ask(client, keys=["é"]).json() == ask(client, keys=["w6k="], encoding="base64").json()
        wide = [b64encode(number.to_bytes(8, "big", signed=True)).decode() for number in numbers]
        assert ask(client, keys=numbers, encoding="int64").json() == ask(client, keys=wide, encoding="base64").json()

    @pytest.mark.parametrize("partitioner", sorted(PARTITIONERS))
    def test_every_partitioner_answers(self, client: httpx.Client, partitioner: str) -> None:
        keys = [f"key-{i}" for i in range(100)] + ["", None]
        (found,) = ask(client, keys=keys, partitioner=partitioner).json()["partitioners"]
        placed = [partition for partition in found["partition_by_key"] if partition is not None and partition >= 0]
        assert sum(found["skew"]["per_partition"]) == len(placed)
        assert all(partition < 12 for partition in placed)
        assert found["without_key"] == found["partition_by_key"].count(None)
        assert (found["null_keys"] is None) == (found["partition_by_key"][-1] is not None)

    def test_another_partition_count_keeps_a_key_as_often_as_expected(self, client: httpx.Client) -> None:
        keys = [f"key-{i}" for i in range(20_000)]
        found = ask(client, keys=keys, compare_partitions=[12, 18, 24]).json()["partitioners"][0]["resizes"]
        assert [resize["partitions_after"] for resize in found] == [12, 18, 24]
        assert found[0]["moved_keys"] == 0
        for resize in found:
            expected = 1 - gcd(12, resize["partitions_after"]) / max(12, resize["partitions_after"])
            assert resize["expected_moved_share"] == pytest.approx(expected)
            assert resize["moved_share"] == pytest.approx(expected, abs=0.02)

    def test_two_clients_disagree_and_a_heavy_key_is_named(self, client: httpx.Client) -> None:
        keys = ["heavy"] * 50 + [f"key-{i}" for i in range(50)]
        found = ask(client, keys=keys, partitioner=["murmur2_adaptive", "consistent_random"]).json()
        (pair,) = found["disagreements"]
        assert (pair["first"], pair["second"]) == ("murmur2_adaptive", "consistent_random")
        assert 0 < pair["differing_keys"] <= 100
        assert found["heaviest_keys"][0] == {"first_index": 0, "weight": 50, "share": 0.5}
        assert found["partitioners"][0]["skew"]["max_over_mean"] >= 6


class TestBadInput:
    """Each its own problem."""

    @pytest.mark.parametrize(
        ("body", "code", "pointer"),
        [
            ({"keys": ["YQ==", "%"], "encoding": "base64"}, "malformed_key", "/keys/1"),
            ({"keys": [1], "encoding": "base64"}, "malformed_key", "/keys/0"),
            ({"keys": ["a", 2**31], "encoding": "int32"}, "malformed_key", "/keys/0"),
            ({"keys": [2**31], "encoding": "int32"}, "malformed_key", "/keys/0"),
            ({"keys": [1], "encoding": "utf8"}, "malformed_key", "/keys/0"),
            ({"keys": ["a"], "partitions": 0}, "invalid_partitions", "/partitions"),
            ({"keys": ["a"], "compare_partitions": [0]}, "invalid_partitions", "/partitions"),
        ],
    )
    def test_refused(self, client: httpx.Client, body: dict[str, Any], code: str, pointer: str) -> None:
        assert only_error(problem(ask(client, **body), 422, code), pointer)

    @pytest.mark.parametrize(
        "body", [{"keys": []}, {"keys": ["a"], "partitioner": "magic"}, {"keys": ["a"], "more": 1}]
    )
    def test_shape(self, client: httpx.Client, body: dict[str, Any]) -> None:
        problem(ask(client, **body), 422, "validation")
