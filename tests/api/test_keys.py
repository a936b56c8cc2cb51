"""`/v1/keys/partitions`."""

from base64 import b64encode
from math import gcd
from typing import Any

import httpx
import pytest

from app.core.keys.null_keys import NULL_KEY_POLICIES
from app.core.keys.partitioners import CLIENTS, PARTITIONERS
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
            ({"keys": ["a"], "partitions": -5}, "invalid_partitions", "/partitions"),
            ({"keys": ["a"], "compare_partitions": [1, 0]}, "invalid_partitions", "/compare_partitions/1"),
            ({"keys": ["YQ"], "encoding": "base64"}, "malformed_key", "/keys/0"),
            ({"keys": ["YQ==", "é==="], "encoding": "base64"}, "malformed_key", "/keys/1"),
            ({"keys": ["_-8="], "encoding": "base64"}, "malformed_key", "/keys/0"),
            ({"keys": [-(2**31) - 1], "encoding": "int32"}, "malformed_key", "/keys/0"),
            ({"keys": [0, 2**63], "encoding": "int64"}, "malformed_key", "/keys/1"),
            ({"keys": [-(2**63) - 1], "encoding": "int64"}, "malformed_key", "/keys/0"),
            ({"keys": ["9" * 5000], "encoding": "int64"}, "malformed_key", "/keys/0"),
            ({"keys": ["1_0"], "encoding": "int64"}, "malformed_key", "/keys/0"),
            ({"keys": [" 7"], "encoding": "int64"}, "malformed_key", "/keys/0"),
            ({"keys": ["७"], "encoding": "int64"}, "malformed_key", "/keys/0"),
            ({"keys": [""], "encoding": "int64"}, "malformed_key", "/keys/0"),
        ],
    )
    def test_is_rejected(self, client: httpx.Client, body: dict[str, Any], code: str, pointer: str) -> None:
        assert only_error(problem(ask(client, **body), 422, code), pointer)

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({"keys": []}, "/keys"),
            ({"keys": ["a"], "more": 1}, "/more"),
            ({"keys": ["a"], "encoding": "utf16"}, "/encoding"),
            ({"keys": ["a"], "partitioner": "magic"}, "/partitioner"),
            ({"keys": ["a"], "partitioner": 7}, "/partitioner"),
            ({"keys": ["a"], "partitioner": ["murmur2", "magic"]}, "/partitioner/1"),
            ({"keys": ["a"], "partitioner": []}, "/partitioner"),
            ({"keys": ["a"], "partitions": 1_000_001}, "/partitions"),
            ({"keys": ["a"], "compare_partitions": [12, 2**40]}, "/compare_partitions/1"),
        ],
    )
    def test_shape(self, client: httpx.Client, body: dict[str, Any], pointer: str) -> None:
        """The pointer names a place in the body, not the branch of a type."""
        assert only_error(problem(ask(client, **body), 422, "validation"), pointer)

    def test_a_malformed_key_is_shown_in_part(self, client: httpx.Client) -> None:
        error = only_error(
            problem(ask(client, keys=["%" * 100_000], encoding="base64"), 422, "malformed_key"), "/keys/0"
        )
        assert error["value"] == "%" * 80
        assert error["expected"] == "base64"

    def test_half_a_character_is_no_text(self, client: httpx.Client) -> None:
        """JSON can write half of a surrogate pair. UTF-8 cannot, and every client makes something else of it."""
        raw = '{"keys": ["whole \\ud83d\\ude00", "half \\ud83d"], "partitions": 3}'
        response = client.post("/v1/keys/partitions", content=raw, headers={"Content-Type": "application/json"})
        assert only_error(problem(response, 422, "malformed_key"), "/keys/1")

    def test_a_million_keys_of_the_wrong_type_are_one_error(self, client: httpx.Client) -> None:
        """Or the problem would be larger than the request."""
        response = ask(client, keys=[1.5] * 1_000_000)
        found = problem(response, 422, "validation")
        assert {error["pointer"] for error in found["errors"]} == {"/keys/0"}
        assert len(response.content) < 2000

    def test_more_than_the_limit(self, client: httpx.Client) -> None:
        response = ask(client, keys=[None] * 1000, partitioner=sorted(PARTITIONERS), compare_partitions=[7] * 32)
        assert response.status_code == 200
        response = ask(client, keys=[None] * 100_000, partitioner=["random", "murmur2"], compare_partitions=[7] * 32)
        error = only_error(problem(response, 413, "limit_exceeded"), "/keys")
        assert (error["limit_name"], error["limit"]) == ("max_key_placements", 5_000_000)
        assert error["value"] == 100_000 * 2 * 33


class TestWhatIsTaken:
    """Values at the edges of valid ranges."""

    def test_the_least_and_the_greatest_numbers(self, client: httpx.Client) -> None:
        for encoding, bits in (("int32", 32), ("int64", 64)):
            numbers = [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
            raw = [b64encode(number.to_bytes(bits // 8, "big", signed=True)).decode() for number in numbers]
            expected = ask(client, keys=raw, encoding="base64").json()
            assert ask(client, keys=numbers, encoding=encoding).json() == expected
            assert ask(client, keys=[str(number) for number in numbers], encoding=encoding).json() == expected

    def test_a_partitioner_that_is_listed_twice_is_answered_once(self, client: httpx.Client) -> None:
        twice = ask(client, keys=["a"], partitioner=["murmur2", "consistent", "murmur2"])
        assert twice.content == ask(client, keys=["a"], partitioner=["murmur2", "consistent"]).content

    def test_a_nul_and_an_empty_text_are_keys(self, client: httpx.Client) -> None:
        found = ask(client, keys=["\0", "", None], partitioner="murmur2_adaptive").json()["partitioners"][0]
        assert found["without_key"] == 1
        assert None not in found["partition_by_key"][:2]


class TestListPartitioners:
    """The available choices."""

    def test_it_is_the_registries(self, client: httpx.Client) -> None:
        found = client.get("/v1/keys/partitioners").json()
        assert [one["name"] for one in found["partitioners"]] == list(PARTITIONERS)
        assert [policy["name"] for policy in found["null_key_policies"]] == list(NULL_KEY_POLICIES)
        assert [row["client"] for row in found["clients"]] == [client.library for client in CLIENTS]

    def test_a_client_leads_to_its_partitioner_and_that_to_its_policy(self, client: httpx.Client) -> None:
        found = client.get("/v1/keys/partitioners").json()
        partitioners = {one["name"]: one for one in found["partitioners"]}
        policies = {policy["name"] for policy in found["null_key_policies"]}
        for row in found["clients"]:
            assert row["null_keys"] == partitioners[row["partitioner"]]["null_keys"]
            assert row["null_keys"] in policies
        java = [(row["versions"], row["partitioner"]) for row in found["clients"] if row["language"] == "Java"]
        assert java == [
            ("0.8.2 to 2.3", "murmur2_round_robin"),
            ("2.4 to 3.2", "murmur2_sticky"),
            ("since 3.3", "murmur2_adaptive"),
        ]

    def test_every_name_is_taken(self, client: httpx.Client) -> None:
        names = [one["name"] for one in client.get("/v1/keys/partitioners").json()["partitioners"]]
        answered = ask(client, keys=["a"], partitioner=names).json()["partitioners"]
        assert [one["partitioner"] for one in answered] == names
