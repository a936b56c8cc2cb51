"""`null_keys` of `/v1/keys/partitions`: records without key are placed too."""

from typing import Any

import httpx
import pytest

from app.core.keys.partitioners import PARTITIONERS
from tests.api.contract import only_error, problem

KEYS = ["alice", None, "bob", None, "", None, None]


def ask(client: httpx.Client, **body: Any) -> httpx.Response:
    """Keys placed; the policies' defaults where nothing else is said."""
    return client.post("/v1/keys/partitions", json={"keys": KEYS, "partitions": 12, "null_keys": {}} | body)


def placed(client: httpx.Client, **body: Any) -> dict[str, Any]:
    """The one partitioner's answer."""
    (found,) = ask(client, **body).json()["partitioners"]
    answer: dict[str, Any] = found
    return answer


class TestPlacement:
    """Every record has a partition, and those with a key have the one that they had."""

    @pytest.mark.parametrize("partitioner", sorted(PARTITIONERS))
    def test_keyed_records_land_where_they_do_without_null_keys(self, client: httpx.Client, partitioner: str) -> None:
        without = placed(client, partitioner=partitioner, null_keys=None)
        found = placed(client, partitioner=partitioner)
        pairs = list(zip(without["partition_by_key"], found["partition_by_key"], strict=True))
        assert all(before == after for before, after in pairs if before is not None)
        assert sum(before is None for before, _ in pairs) == found["without_key"] == without["without_key"]
        assert all(0 <= after < 12 for _, after in pairs)

    @pytest.mark.parametrize("partitioner", sorted(PARTITIONERS))
    def test_the_skew_counts_them(self, client: httpx.Client, partitioner: str) -> None:
        found = placed(client, partitioner=partitioner)
        assert sum(found["skew"]["per_partition"]) == len(KEYS)
        for partition, load in enumerate(found["skew"]["per_partition"]):
            assert load == found["partition_by_key"].count(partition)

    def test_they_are_no_keys_that_move_or_differ(self, client: httpx.Client) -> None:
        """Where such a record goes is chance: another count, or another client, draws anew."""
        both = {"partitioner": ["murmur2_adaptive", "consistent_random"], "compare_partitions": [1, 24]}
        without, found = ask(client, **both, null_keys=None).json(), ask(client, **both).json()
        assert found["disagreements"] == without["disagreements"]
        for before, after in zip(without["partitioners"], found["partitioners"], strict=True):
            assert after["resizes"] == before["resizes"]
            assert after["resizes"][0]["keys"] == len(KEYS) - after["without_key"]
        assert found["heaviest_keys"] == without["heaviest_keys"]

    def test_without_it_nothing_is_sampled(self, client: httpx.Client) -> None:
        answer = client.post("/v1/keys/partitions", json={"keys": KEYS, "partitions": 12, "partitioner": "random"})
        assert answer.json()["partitioners"][0]["partition_by_key"] == [None] * len(KEYS)
        assert "seed" not in answer.json()

    def test_in_turn_over_those_that_have_a_leader(self, client: httpx.Client) -> None:
        """Shares differ by one at most; a key still goes to its partition, leader or not."""
        null_keys = {"available_partitions": [0, 5, 7]}
        found = placed(client, keys=[None] * 100, partitioner="murmur2_round_robin", null_keys=null_keys)
        assert sorted(found["skew"]["per_partition"]) == [0] * 9 + [33, 33, 34]

    def test_by_queue_sizes(self, client: httpx.Client) -> None:
        """KIP-794's example: queues 0, 3, 1 get 4, 1, 3 of 8."""
        null_keys = {"queue_sizes": [0, 3, 1], "batch_bytes": 1}
        found = placed(client, keys=[None] * 20_000, partitions=3, partitioner="murmur2_adaptive", null_keys=null_keys)
        assert found["skew"]["per_partition"] == pytest.approx([10_000, 2_500, 7_500], rel=0.1)

    def test_a_batch_ends_for_the_record_that_does_not_fit(self, client: httpx.Client) -> None:
        """The keyed records between take nothing of the batch: 40 + 60 fill it, the third opens another."""
        found = placed(
            client,
            keys=[None, "a", None, "b", None],
            partitions=2,
            partitioner="murmur2_sticky",
            null_keys={"batch_bytes": 100, "record_bytes": [40, 1000, 60, 1000, 1]},
        )["partition_by_key"]
        assert found[0] == found[2] != found[4]

    def test_no_leader_anywhere(self, client: httpx.Client) -> None:
        """Every policy then takes any partition, as the clients do."""
        found = ask(client, partitioner=sorted(PARTITIONERS), null_keys={"available_partitions": []}).json()
        for one in found["partitioners"]:
            assert all(0 <= partition < 12 for partition in one["partition_by_key"])


class TestSeed:
    """The same request, the same bytes."""

    def test_a_seed_replays(self, client: httpx.Client) -> None:
        everything = {"partitioner": sorted(PARTITIONERS), "null_keys": {"seed": -7}}
        first = ask(client, **everything)
        assert first.json()["seed"] == -7
        assert first.content == ask(client, **everything).content

    def test_one_that_is_left_out_comes_from_the_request_and_replays(self, client: httpx.Client) -> None:
        first = ask(client, partitioner="random")
        assert first.content == ask(client, partitioner="random").content
        seed = first.json()["seed"]
        assert 0 <= seed < 2**48
        assert ask(client, partitioner="random", null_keys={"seed": seed}).content == first.content

    def test_it_depends_on_the_records_and_on_what_the_producer_knows(self, client: httpx.Client) -> None:
        bodies: list[dict[str, Any]] = [
            {},
            {"keys": [*KEYS, None]},
            {"keys": [*KEYS[:-1], ""]},
            {"partitions": 13},
            {"null_keys": {"batch_bytes": 1}},
            {"null_keys": {"record_bytes": 1}},
            {"null_keys": {"available_partitions": [1]}},
        ]
        seeds = [ask(client, partitioner="random", **body).json()["seed"] for body in bodies]
        assert len(set(seeds)) == len(bodies)

    def test_asking_for_more_beside_it_draws_nothing_else(self, client: httpx.Client) -> None:
        alone = placed(client, partitioner="random")
        more = ask(client, partitioner=["murmur2_adaptive", "random"], compare_partitions=[7]).json()["partitioners"]
        assert more[1]["partition_by_key"] == alone["partition_by_key"]

    def test_the_encoding_draws_nothing_else(self, client: httpx.Client) -> None:
        text = ask(client, keys=["é", None, None], partitioner="random")
        assert ask(client, keys=["w6k=", None, None], encoding="base64", partitioner="random").content == text.content


class TestBadInput:
    """Each names its place, its value and the valid ones."""

    @pytest.mark.parametrize(
        ("null_keys", "code", "pointer", "value", "limit"),
        [
            ({"available_partitions": [0, 12]}, "unknown_partition", "available_partitions/1", 12, 11),
            ({"available_partitions": [3, 4, 3]}, "duplicate_partition", "available_partitions/2", 3, None),
            ({"queue_sizes": [1, 2]}, "conflicting_fields", "queue_sizes", 2, 12),
            (
                {"available_partitions": [1], "queue_sizes": [1, 2]},
                "conflicting_fields",
                "queue_sizes",
                2,
                1,
            ),
            ({"available_partitions": [], "queue_sizes": []}, "conflicting_fields", "queue_sizes", 0, 0),
            (
                {"available_partitions": [1, 2], "queue_sizes": [0, 2**31 - 1]},
                "queue_sizes_overflow",
                "queue_sizes",
                2**31 + 1,
                2**31 - 1,
            ),
            ({"record_bytes": [1, 2]}, "conflicting_fields", "record_bytes", 2, len(KEYS)),
        ],
    )
    def test_is_rejected(
        self, client: httpx.Client, null_keys: dict[str, Any], code: str, pointer: str, value: int, limit: int | None
    ) -> None:
        error = only_error(problem(ask(client, null_keys=null_keys), 422, code), f"/null_keys/{pointer}")
        assert error["value"] == value
        assert error.get("limit", error.get("maximum")) == limit

    @pytest.mark.parametrize(
        ("null_keys", "pointer", "limits"),
        [
            ({"seed": 2**63}, "seed", {"le": 2**63 - 1}),
            ({"seed": -(2**63) - 1}, "seed", {"ge": -(2**63)}),
            ({"available_partitions": [1, -1]}, "available_partitions/1", {"ge": 0}),
            ({"queue_sizes": [-1]}, "queue_sizes/0", {"ge": 0}),
            ({"queue_sizes": [2**31]}, "queue_sizes/0", {"le": 2**31 - 1}),
            ({"batch_bytes": 0}, "batch_bytes", {"ge": 1}),
            ({"batch_bytes": 2**31}, "batch_bytes", {"le": 2**31 - 1}),
            ({"record_bytes": -1}, "record_bytes", {"ge": 0}),
            ({"record_bytes": [1, -2]}, "record_bytes/1", {"ge": 0}),
            ({"record_bytes": "1"}, "record_bytes", None),
            ({"more": 1}, "more", None),
        ],
    )
    def test_out_of_bounds(
        self, client: httpx.Client, null_keys: dict[str, Any], pointer: str, limits: dict[str, int] | None
    ) -> None:
        error = only_error(problem(ask(client, null_keys=null_keys), 422, "validation"), f"/null_keys/{pointer}")
        assert error.get("limits") == limits
        assert "value" in error


RACKS = ["a", "b", "c", "a", "b", None]


class TestRacks:
    """KIP-1123: since 4.4 the adaptive policy can prefer partitions whose leaders are in the producer's rack."""

    def _placed(self, client: httpx.Client, **null_keys: Any) -> dict[str, Any]:
        return placed(
            client,
            keys=[None] * 40,
            partitions=6,
            partitioner="murmur2_adaptive",
            null_keys={"seed": 3, "record_bytes": 20_000, "client_rack": "a", "leader_racks": RACKS} | null_keys,
        )

    def test_records_stay_in_the_rack(self, client: httpx.Client) -> None:
        aware, unaware = self._placed(client, rack_aware=True), self._placed(client)
        assert set(aware["partition_by_key"]) <= {0, 3}
        assert aware["cross_rack"]["in_rack"] == 40 * 20_000
        assert aware["cross_rack"]["cross_rack"] == 0
        # Each answer states the other setting's result from the same seed.
        assert aware["cross_rack"]["cross_rack_otherwise"] == unaware["cross_rack"]["cross_rack"]
        assert unaware["cross_rack"]["cross_rack_otherwise"] == 0
        assert sum(unaware["cross_rack"][name] for name in ("in_rack", "cross_rack", "unknown")) == 40 * 20_000

    def test_without_a_leader_in_the_rack_all_partitions_are_used(self, client: httpx.Client) -> None:
        aware, unaware = self._placed(client, rack_aware=True, client_rack="z"), self._placed(client, client_rack="z")
        assert aware["partition_by_key"] == unaware["partition_by_key"]
        assert aware["cross_rack"]["in_rack"] == 0

    def test_racks_are_those_of_available_partitions(self, client: httpx.Client) -> None:
        found = self._placed(client, rack_aware=True, available_partitions=[4, 2], leader_racks=["a", "b"])
        assert set(found["partition_by_key"]) == {4}

    def test_other_policies_ignore_it(self, client: httpx.Client) -> None:
        options = {"seed": 3, "client_rack": "a", "leader_racks": RACKS}
        body: dict[str, Any] = {"keys": [None] * 9, "partitions": 6, "partitioner": "round_robin"}
        aware = placed(client, **body, null_keys=options | {"rack_aware": True})
        assert aware["partition_by_key"] == placed(client, **body, null_keys=options)["partition_by_key"]

    def test_without_racks_there_is_no_answer(self, client: httpx.Client) -> None:
        assert placed(client)["cross_rack"] is None

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"leader_racks": ["a"]}, "/null_keys/leader_racks"),
            ({"leader_racks": None, "rack_aware": True}, "/null_keys/leader_racks"),
            ({"client_rack": None}, "/null_keys/client_rack"),
        ],
    )
    def test_racks_belong_together(self, client: httpx.Client, fields: dict[str, Any], pointer: str) -> None:
        options = {"client_rack": "a", "leader_racks": RACKS} | fields
        body = {"keys": [None], "partitions": 6, "null_keys": {k: v for k, v in options.items() if v is not None}}
        only_error(problem(client.post("/v1/keys/partitions", json=body), 422, "conflicting_fields"), pointer)

    def test_it_exists_since_4_4(self, client: httpx.Client) -> None:
        options = {"client_rack": "a", "leader_racks": RACKS, "rack_aware": True}
        body = {"keys": [None], "partitions": 6, "null_keys": options, "kafka_version": "4.3"}
        error = problem(client.post("/v1/keys/partitions", json=body), 422, "conflicting_fields")
        only_error(error, "/null_keys/rack_aware")
