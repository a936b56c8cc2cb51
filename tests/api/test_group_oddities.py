"""`/v1/plans/group`: the impossible is a problem, the unlikely a warning; no answer silently changes."""

from typing import Any

import httpx
import pytest

from app.core.groups.registry import ASSIGNORS
from tests.api.contract import UNKNOWN_ID, only_error, problem
from tests.api.group_requests import Json, ask, brokers, codes, member, owning, plan, topic

KAFKAS = [name for name, one in ASSIGNORS.items() if one.runs_on != "nowhere"]


class TestProblems:
    """Each names the field, the value and the valid ones."""

    @pytest.mark.parametrize(
        ("body", "code", "pointer"),
        [
            ({"members": [member("m"), member("n"), member("m")]}, "duplicate_member", "/members/2/member_id"),
            (
                {"members": [member("m", group_instance_id="i"), member("n", group_instance_id="i")]},
                "duplicate_member",
                "/members/1/group_instance_id",
            ),
            ({"members": [member("m", None, "t", "u", "t")]}, "duplicate_topic", "/members/0/topics/2"),
            ({"members": [{"member_id": "m"}]}, "conflicting_fields", "/members/0/topics"),
            (
                {"members": [member("m") | {"member_metadata": "AAAAAAABAAF0/////w=="}]},
                "conflicting_fields",
                "/members/0/topics",
            ),
            ({"topics": [topic(), topic()]}, "duplicate_topic", "/topics/1/name"),
            ({"brokers": [*brokers(), {"id": 2}]}, "duplicate_broker", "/brokers/3/id"),
            (
                {"topics": [{"name": "t", "partitions": [{"partition": 1, "replicas": [1]}]}]},
                "conflicting_fields",
                "/topics/0/partitions",
            ),
            (
                {"topics": [{"name": "t", "partitions": [{"partition": 0, "replicas": [1]}] * 2}]},
                "conflicting_fields",
                "/topics/0/partitions",
            ),
            ({"leader": "ghost"}, "conflicting_fields", "/leader"),
            ({"balance": "lag"}, "conflicting_fields", "/balance"),
            ({"group": "billing"}, "conflicting_fields", "/group"),
            ({"snapshot_id": UNKNOWN_ID}, "snapshot_not_found", "/snapshot_id"),
            ({"previous_snapshot_id": UNKNOWN_ID}, "snapshot_not_found", "/snapshot_id"),
        ],
    )
    def test_it_is_named(self, client: httpx.Client, body: Json, code: str, pointer: str) -> None:
        status = 404 if code == "snapshot_not_found" else 422
        only_error(problem(ask(client, **body), status, code), pointer)

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({"assignor": "best"}, "/assignor"),
            ({"assignor": []}, "/assignor"),
            ({"members": [member("")]}, "/members/0/member_id"),
            ({"members": [member("m", owned_partitions={"t": [-1]})]}, "/members/0/owned_partitions/t/0"),
            ({"members": [member("m", None, "not a topic")]}, "/members/0/topics/0"),
            ({"members": [member("m", generation_id=-2)]}, "/members/0/generation_id"),
            ({"members": [member("m", unknown_field=1)]}, "/members/0/unknown_field"),
            ({"topics": [{"name": "t", "partitions": 0}]}, "/topics/0/partitions"),
            ({"topics": [topic() | {"topic_id": "short"}]}, "/topics/0/topic_id"),
            ({"lag": {"t": [-1]}}, "/lag/t/0"),
            ({"balance": "beauty"}, "/balance"),
        ],
    )
    def test_a_field_that_is_not_what_it_has_to_be(self, client: httpx.Client, body: Json, pointer: str) -> None:
        rejection = problem(ask(client, **body), 422, "validation")
        assert all(error["pointer"].startswith(pointer) for error in rejection["errors"]), rejection

    def test_a_cluster_comes_from_one_place(self, client: httpx.Client) -> None:
        both = {"snapshot_id": UNKNOWN_ID, "brokers": brokers(), "members": [member("m")]}
        only_error(problem(client.post("/v1/plans/group", json=both), 422, "conflicting_fields"), "/snapshot_id")
        neither = {"members": [member("m")]}
        only_error(problem(client.post("/v1/plans/group", json=neither), 422, "conflicting_fields"), "/snapshot_id")
        memberless = {"brokers": brokers(), "topics": [topic()]}
        only_error(problem(client.post("/v1/plans/group", json=memberless), 422, "conflicting_fields"), "/members")

    def test_two_topics_with_one_id(self, client: httpx.Client) -> None:
        one = {"topic_id": "AAAAAAAAAAAAAAAAAAAAAA"}
        rejection = problem(ask(client, topics=[topic() | one, topic("u") | one]), 422, "duplicate_topic")
        assert only_error(rejection, "/topics")["value"] == one["topic_id"]

    def test_weights_that_cannot_be_added(self, client: httpx.Client) -> None:
        rejection = problem(ask(client, bytes_per_s={"t": [2**63 - 1] * 6}), 413, "limit_exceeded")
        assert only_error(rejection, "/ingress_bytes_per_s")["limit"] > 0

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"members": NaN}', b'{"members": ["\xff"]}'])
    def test_a_body_that_is_no_request(self, client: httpx.Client, body: bytes) -> None:
        response = client.post("/v1/plans/group", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code in (400, 422)
        assert response.headers["content-type"] == "application/problem+json"


class TestNoMembers:
    """Range answers nothing, others fail: exactly as Kafka's own code does."""

    @pytest.mark.parametrize("assignor", KAFKAS)
    def test_each_does_what_kafkas_does(self, client: httpx.Client, assignor: str) -> None:
        response = ask(client, assignor=assignor, members=[])
        if assignor in ("roundrobin", "sticky", "cooperative-sticky"):
            rejection = problem(response, 422, "no_members")
            only_error(rejection, "/members")
            return
        found = response.json()
        assert (found["assignment"], found["locality"]["in_rack"]) == ({}, 0)
        assert assignor == "simple" or "no_members" in codes(found)

    def test_the_first_one_can_still_join(self, client: httpx.Client) -> None:
        found = plan(client, members=[], events=[{"join": member("m", "a")}])
        assert found["steps"][0]["assignment"] == {"m": {"t": [0, 1, 2, 3, 4, 5]}}


class TestWarnings:
    """Answered, and said."""

    @pytest.mark.parametrize("assignor", ASSIGNORS)
    @pytest.mark.parametrize(
        ("members", "code"),
        [
            ([member("m0"), member("m1", None, "t", "ghost")], "unknown_topic"),
            ([member("m0"), {"member_id": "m1", "topics": []}], "empty_subscription"),
            ([member("m0", "a"), member("m1", "mars")], "rack_without_broker"),
            ([owning("m0", "a", 0, 99), member("m1", "b")], "owned_partition_missing"),
            ([owning("m0", "a", 0, 1), owning("m1", "b", 1, 2)], "partition_owned_twice"),
            (
                [member("m0", "a", owned_partitions={"ghost": [0]}, generation_id=1), member("m1", "b")],
                "owned_partition_missing",
            ),
        ],
    )
    def test_a_doubtful_group_is_answered_and_named(
        self, client: httpx.Client, assignor: str, members: list[Json], code: str
    ) -> None:
        """Or rejected, if Kafka's own code fails on it."""
        response = ask(client, assignor=assignor, members=members)
        if response.status_code == 422:
            # Owned partitions break the coordinator's uniform assignor, and a partition beyond the topic the sticky.
            rejection = response.json()
            assert rejection["code"] in (
                "partitions_left_unassigned",
                "owned_partition_missing",
                "assignor_loses_count",
            )
            assert code in ("owned_partition_missing", "partition_owned_twice"), rejection
            return
        # In a share group several members own a partition.
        is_doubtful = ASSIGNORS[assignor].is_exclusive or code != "partition_owned_twice"
        assert (code in codes(response.json())) is is_doubtful

    @pytest.mark.parametrize("assignor", ASSIGNORS)
    def test_a_topic_without_partitions_is_named(self, client: httpx.Client, assignor: str) -> None:
        """Its list of partitions is empty; a number of 0 is rejected."""
        found = plan(client, assignor=assignor, topics=[{"name": "t", "partitions": []}], members=[member("m0")])
        assert [given for given in found["assignment"].values() if given] == []
        assert "topic_without_partitions" in codes(found)

    def test_a_member_without_subscription_is_assigned_partitions(self, client: httpx.Client) -> None:
        """A known fault of the sticky builder: repeated, and named with member, topic and number."""
        for names in (("a", "b"), ("b", "a"), ("m1", "m0"), ("x", "y")):
            members = [{"member_id": names[0], "topics": []}, member(names[1])]
            found = plan(client, assignor="cooperative-sticky", members=members)
            given = found["assignment"][names[0]]
            assert bool(given) == ("partitions_not_subscribed" in codes(found)), names
            illegal = [violation["code"] for violation in found["violations"]]
            assert ("not_subscribed" in illegal) == bool(given)

    def test_racks_that_do_not_count_are_named_with_the_reason(self, client: httpx.Client) -> None:
        for fields, reason in (
            ({"members": [member("m0"), member("m1")]}, "no member has one"),
            ({"brokers": [{"id": 1}, {"id": 2}, {"id": 3}]}, "no replica is on a broker that has one"),
            ({"topics": [topic("t", 6, replicas=3)]}, "all partitions have replicas in the same racks"),
            ({"members": [member("m0", "x"), member("m1", "y")]}, "no member's rack holds a replica"),
        ):
            (warning,) = [each for each in plan(client, **fields)["warnings"] if each["code"] == "racks_ignored"]
            assert reason in warning["detail"]

    def test_a_fenced_brokers_rack_does_not_count(self, client: httpx.Client) -> None:
        found = plan(client, brokers=[*brokers()[:2], {"id": 3, "rack": "c", "fenced": True}])
        (warning,) = [each for each in found["warnings"] if each["code"] == "fenced_brokers_left_out"]
        assert warning["brokers"] == [3]
        assert found["locality"]["unknown"] == 2

    def test_ownership_without_a_generation_is_nothing_to_the_sticky_assignor(self, client: httpx.Client) -> None:
        members = [member("m0", owned_partitions={"t": [5]}), member("m1")]
        found = plan(client, assignor="sticky", members=members)
        assert "owned_without_generation" in codes(found)

    def test_an_older_generation_is_not_believed(self, client: httpx.Client) -> None:
        members = [
            owning("m0", None, 0, 1, 2) | {"generation_id": 4},
            owning("m1", None, 0, 1, 2) | {"generation_id": 5},
        ]
        found = plan(client, assignor="cooperative-sticky", members=members)
        assert set(found["assignment"]["m1"]["t"]) == {0, 1, 2}


@pytest.mark.parametrize("assignor", ASSIGNORS)
@pytest.mark.parametrize(
    "fields",
    [
        {"owned_partitions": {"t": [0, 0, 0]}, "generation_id": 1},
        {"owned_partitions": {"t": [2**31 - 1]}, "generation_id": 2**31 - 1},
        {"owned_partitions": {"t": []}, "generation_id": -1},
        {"topics": ["t", "ghost"], "owned_partitions": {"ghost": [3], "t": [5]}, "generation_id": 0},
    ],
)
def test_whatever_members_claim_it_is_answered_or_rejected(client: httpx.Client, assignor: str, fields: Any) -> None:
    """Never a 500, whichever assignor meets the claim."""
    response = ask(client, assignor=assignor, members=[member("m0", "a") | fields, member("m1", "b")])
    assert response.status_code in (201, 422), response.text
