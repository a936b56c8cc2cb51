"""Consumer groups and topic ids in `/v1/snapshots`: from JSON and from the Kafka tools' output."""

import json
from base64 import b64encode
from copy import deepcopy
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import SNAPSHOT_WITH_GROUP
from app.formats.groups.consumer_protocol import Subscription
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import only_error, problem
from tests.conftest import SAMPLES
from tests.formats.writers.consumer_protocol import write_subscription

BROKERS = (SAMPLES / "kafka-broker-api-versions.txt").read_bytes()
TOPICS = (SAMPLES / "kafka-topics-describe.txt").read_bytes()
OFFSETS = (SAMPLES / "kafka-consumer-groups-describe.txt").read_bytes()
MEMBERS = (SAMPLES / "kafka-consumer-groups-members-verbose.txt").read_bytes()
STATES = (SAMPLES / "kafka-consumer-groups-state.txt").read_bytes()
DESCRIBED = (SAMPLES / "describe-groups.json").read_bytes() + b"\n"
TEXT = {"Content-Type": "text/plain"}


def _form(client: httpx.Client, **parts: bytes) -> httpx.Response:
    files = {name: (name, text) for name, text in parts.items()}
    return client.post("/v1/snapshots", data={"cluster": "prod"}, files=files)


def _warnings(response: httpx.Response) -> dict[str, str]:
    assert response.status_code == 201, response.text
    return {warning["code"]: warning["detail"] for warning in response.json()["warnings"]}


def _document(client: httpx.Client, response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 201, response.text
    document: dict[str, Any] = client.get(response.headers["location"]).json()["document"]
    return document


def _changed(*path: str | int, value: object) -> dict[str, Any]:
    """The example with something else at a place in its group."""
    body = deepcopy(SNAPSHOT_WITH_GROUP)
    at: Any = body["groups"][0]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return body


def _described(metadata: object) -> bytes:
    member = {"member_id": "m-1", "client_id": "c", "client_host": "/h", "member_metadata": metadata}
    members = [{**member, "member_assignment": ""}]
    group = {"group_state": "Stable", "protocol_data": "range", "members": members}
    return json.dumps({"g": group}, indent=1).encode()


class TestFromTexts:
    """The part `groups`."""

    def test_the_real_groups(self, client: httpx.Client) -> None:
        response = _form(client, brokers=BROKERS, topics=TOPICS, groups=OFFSETS + MEMBERS + STATES)
        assert response.json()["groups"] == 2
        document = _document(client, response)
        billing, clickstream = document["groups"]
        assert (billing["group_id"], billing["assignor"], len(billing["members"])) == ("billing", "range", 3)
        assert (clickstream["group_id"], clickstream["assignor"]) == ("clickstream", "cooperative-sticky")
        assert len(clickstream["members"]) == 4
        assert len(billing["offsets"]) == 36
        assert billing["offsets"][0] == {
            "topic": "orders",
            "partition": 0,
            "current_offset": 1963,
            "log_end_offset": 1963,
            "lag": 0,
            "member_id": "billing-0-35ee8870-27d3-4fdc-b220-33ad0079a4e5",
        }
        ids = {topic["name"]: topic["topic_id"] for topic in document["topics"]}
        assert ids["inventory.changes"] == "qZugq_NJRUyvZZHyC6trPg"

    def test_the_tables_know_no_racks(self, client: httpx.Client) -> None:
        """If brokers have no racks, members need none."""
        parts = {"topics": TOPICS, "groups": MEMBERS}
        detail = _warnings(_form(client, brokers=BROKERS, **parts))["members_without_rack"]
        assert "3 of 3 members of group 'billing' (unknown for 3)" in detail
        assert "4 of 4 members of group 'clickstream'" in detail
        assert "members_without_rack" not in _warnings(_form(client, **parts))

    def test_the_coordinator_knows_them(self, client: httpx.Client) -> None:
        response = _form(client, brokers=BROKERS, topics=TOPICS, groups=DESCRIBED)
        assert _warnings(response) == {}
        billing = _document(client, response)["groups"][0]
        assert [member["rack_id"] for member in billing["members"]] == ["use1-az1", "use1-az4", "use1-az2"]
        assert billing["members"][0]["assigned_partitions"]["payments"] == [0, 1, 2, 3]

    def test_pasted_in_any_order_it_is_the_same_snapshot(self, client: httpx.Client) -> None:
        wanted = _form(client, brokers=BROKERS, topics=TOPICS, groups=OFFSETS + MEMBERS + STATES).json()["id"]
        command = b"$ kafka-consumer-groups --describe --all-groups\n"
        for texts in (
            (BROKERS, TOPICS, OFFSETS, MEMBERS, STATES),
            (STATES, TOPICS, command, MEMBERS, BROKERS, OFFSETS),
        ):
            response = client.post("/v1/snapshots?cluster=prod", content=b"\n".join(texts), headers=TEXT)
            assert response.json()["id"] == wanted

    def test_what_cannot_be_joined_is_a_warning(self, client: httpx.Client) -> None:
        """Texts of two moments, and groups that read topics missing in the topics' text."""
        shorter = b"".join(TOPICS.partition(b"Topic: payments\t")[::2][:1])
        warnings = _warnings(_form(client, brokers=BROKERS, topics=shorter, groups=OFFSETS + DESCRIBED))
        assert "group 'clickstream': 4 members in tables" in warnings["group_texts_disagree"]
        assert "of group 'billing', 'payments' first" in warnings["group_topics_missing"]

    def test_partitions_that_a_topic_lacks(self, client: httpx.Client) -> None:
        groups = OFFSETS.replace(b"orders          23 ", b"orders          99 ")
        warnings = _warnings(_form(client, brokers=BROKERS, topics=TOPICS, groups=groups))
        assert "1 of group 'billing', orders-99 first" in warnings["group_partitions_missing"]

    def test_raw_bytes_as_they_are(self, client: httpx.Client) -> None:
        metadata = b64encode(write_subscription(Subscription(("orders",), None, (), 4, "use1-az1"))).decode()
        response = _form(client, brokers=BROKERS, topics=TOPICS, groups=_described(metadata))
        (member,) = _document(client, response)["groups"][0]["members"]
        assert (member["topics"], member["generation_id"], member["rack_id"]) == (["orders"], 4, "use1-az1")

    def test_a_version_from_the_future_is_named(self, client: httpx.Client) -> None:
        metadata = b64encode(b"\0\7" + write_subscription(Subscription(("orders",), rack_id="a"))[2:]).decode()
        warnings = _warnings(_form(client, brokers=BROKERS, topics=TOPICS, groups=_described(metadata)))
        assert set(warnings) == {"subscription_from_the_future"}
        assert "'m-1' of group 'g' (version 7)" in warnings["subscription_from_the_future"]

    @pytest.mark.parametrize("metadata", ["AAMAAAAB", "AA%"])
    def test_a_group_with_a_member_of_broken_bytes_is_left_out(self, client: httpx.Client, metadata: str) -> None:
        response = _form(client, brokers=BROKERS, topics=TOPICS, groups=_described(metadata))
        assert "member_metadata" in _warnings(response)["groups_not_described"]
        assert _document(client, response).get("groups", []) == []

    def test_a_group_with_a_member_of_broken_bytes_leaves_out_nothing_else(self, client: httpx.Client) -> None:
        """Its other member is readable, and is left out with it; other groups, brokers and topics are as without it."""
        whole = json.loads(DESCRIBED)
        broken = deepcopy(whole["billing"])
        broken["members"][1]["member_metadata"] = "AAMAAAAB"
        texts = {"brokers": BROKERS, "topics": TOPICS}
        response = _form(client, **texts, groups=json.dumps({**whole, "broken": broken}, indent=1).encode())
        warning = _warnings(response)["groups_not_described"]
        assert "'broken'" in warning
        assert "broken/members/1/member_metadata" in warning
        assert "billing" not in warning
        assert _document(client, response) == _document(client, _form(client, **texts, groups=DESCRIBED))

    @pytest.mark.parametrize(
        ("groups", "line", "expected"),
        [
            (STATES + OFFSETS.replace(b" 1550 ", b" 15x0 ", 1), STATES.count(b"\n") + 3, "CURRENT-OFFSET"),
            (STATES + OFFSETS + OFFSETS.replace(b" 1550 ", b" 1551 ", 1), (STATES + OFFSETS).count(b"\n") + 3, "once"),
            (b"[]", 1, "an object"),
            (DESCRIBED[:900], DESCRIBED.count(b"\n", 0, 900) + 1, "JSON"),
            (b"Error: Consumer group 'x' does not exist.\n", 1, "kafka-consumer-groups"),
        ],
    )
    def test_what_is_malformed_is_named_by_part_and_line(
        self, client: httpx.Client, groups: bytes, line: int, expected: str
    ) -> None:
        found = problem(_form(client, brokers=BROKERS, groups=groups), 422, "malformed_text")
        only_error(found, "/groups")
        assert found["line"] == line
        assert expected in found["expected"]

    def test_a_name_with_a_control_character_is_rejected_with_its_line(self, client: httpx.Client) -> None:
        """A group id becomes an argument of Kafka's tools."""
        groups = (MEMBERS + STATES).replace(b"billing", b"bill\0ng")
        found = problem(_form(client, brokers=BROKERS, topics=TOPICS, groups=groups), 422, "malformed_text")
        first = MEMBERS.split(b"billing")[0].count(b"\n") + 1
        assert (found["line"], found["expected"]) == (first, "a group id without control characters")


class TestFromJson:
    """The field `groups`."""

    def test_what_is_posted_is_read_again(self, client: httpx.Client) -> None:
        """The document can be posted as it is, and is the same snapshot."""
        body = _changed("members", 0, "user_data", value="AAE=")
        body["topics"][0]["topic_id"] = "qZugq_NJRUyvZZHyC6trPg"
        response = client.post("/v1/snapshots", json=body)
        assert response.json()["groups"] == 1
        assert _warnings(response) == {}
        document = _document(client, response)
        assert document["groups"] == body["groups"]
        assert document["topics"][0]["topic_id"] == body["topics"][0]["topic_id"]
        assert client.post("/v1/snapshots", json=document).json()["id"] == response.json()["id"]

    def test_the_order_of_groups_offsets_and_keys_says_nothing(self, client: httpx.Client) -> None:
        body = deepcopy(SNAPSHOT_WITH_GROUP)
        body["groups"].append({"group_id": "audit", "state": "Empty"})
        body["groups"][0]["members"][0]["owned_partitions"] = {"orders": [0], "a": [1]}
        again = deepcopy(body)
        again["groups"].reverse()
        again["groups"][1]["offsets"].reverse()
        again["groups"][1]["members"][0]["owned_partitions"] = {"a": [1], "orders": [0]}
        ids = {client.post("/v1/snapshots", json=document).json()["id"] for document in (body, again)}
        assert len(ids) == 1

    def test_an_unknown_value_differs_from_none(self, client: httpx.Client) -> None:
        """A member without subscription, and one that subscribes to nothing and owns nothing."""
        ids = set()
        members: list[dict[str, object]] = [
            {},
            {"topics": []},
            {"topics": [], "owned_partitions": {}},
            {"assigned_partitions": {}},
        ]
        for member in members:
            body = _changed("members", value=[{"member_id": "m-1", **member}])
            response = client.post("/v1/snapshots", json=body)
            ids.add(response.json()["content_hash"])
            assert ("unknown for 1" in _warnings(response)["members_without_rack"]) is ("topics" not in member)
        assert len(ids) == 4

    def test_warnings_stay_short_of_many_groups(self, client: httpx.Client) -> None:
        groups = [{"group_id": f"g-{i}", "members": [{"member_id": "m", "topics": ["t"]}]} for i in range(300)]
        body = {"cluster": "many", "brokers": [{"id": 1, "rack": "a"}], "groups": groups}
        response = client.post("/v1/snapshots", json=body)
        warnings = _warnings(response)
        assert response.json()["groups"] == 300
        assert set(warnings) == {"members_without_rack", "group_topics_missing"}
        assert all(detail.endswith("and 295 more") for detail in warnings.values())

    @pytest.mark.parametrize(
        ("path", "value", "pointer"),
        [
            (("group_id",), "", "group_id"),
            (("group_id",), "a\0", "group_id"),
            (("members", 0, "member_id"), None, "members/0/member_id"),
            (("members", 0, "rack_id"), 7, "members/0/rack_id"),
            (("members", 0, "topics"), ["a b"], "members/0/topics/0"),
            (("members", 0, "topics"), "orders", "members/0/topics"),
            (("members", 0, "generation_id"), -1, "members/0/generation_id"),
            (("members", 0, "generation_id"), 2**31, "members/0/generation_id"),
            (("members", 0, "user_data"), "AA%", "members/0/user_data"),
            (("members", 0, "owned_partitions"), {"orders": [0, -1]}, "members/0/owned_partitions/orders/1"),
            (("members", 1, "assigned_partitions"), {"orders": [2**31]}, "members/1/assigned_partitions/orders/0"),
            (("members", 0, "owned_partitions"), [], "members/0/owned_partitions"),
            (("members", 0, "epoch"), 1, "members/0/epoch"),
            (("offsets", 0, "partition"), -1, "offsets/0/partition"),
            (("offsets", 0, "lag"), 2**63, "offsets/0/lag"),
            (("offsets", 0, "lag"), "12", "offsets/0/lag"),
            (("offsets", 1, "topic"), "..", "offsets/1/topic"),
        ],
    )
    def test_bad_fields(self, client: httpx.Client, path: tuple[str | int, ...], value: object, pointer: str) -> None:
        response = client.post("/v1/snapshots", json=_changed(*path, value=value))
        only_error(problem(response, 422, "validation"), f"/groups/0/{pointer}")

    def test_a_group_twice(self, client: httpx.Client) -> None:
        body = deepcopy(SNAPSHOT_WITH_GROUP)
        body["groups"] += [{"group_id": "audit"}, {"group_id": "billing"}]
        response = client.post("/v1/snapshots", json=body)
        error = only_error(problem(response, 422, "duplicate_group"), "/groups/2/group_id")
        assert error["value"] == "billing"

    def test_a_member_twice(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots", json=_changed("members", 1, "member_id", value="billing-0-35ee"))
        error = only_error(problem(response, 422, "duplicate_member"), "/groups/0/members/1/member_id")
        assert error["value"] == "billing-0-35ee"

    def test_a_partition_with_two_offsets(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots", json=_changed("offsets", 1, "partition", value=0))
        error = only_error(problem(response, 422, "duplicate_partition"), "/groups/0/offsets/1/partition")
        assert error["value"] == 0

    def test_a_lag_below_0_is_what_kafka_prints(self, client: httpx.Client) -> None:
        response = client.post("/v1/snapshots", json=_changed("offsets", 0, "lag", value=-3))
        assert _document(client, response)["groups"][0]["offsets"][0]["lag"] == -3


def test_snapshots_from_before_groups_are_listed_with_none(scratch: Database, serve: Serve) -> None:
    """Their summary does not count groups, and is not written again."""
    client = serve(scratch)
    stored = client.post("/v1/snapshots", json={"cluster": "old", "brokers": []}).json()
    with scratch.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE snapshots SET summary = summary::jsonb - 'groups' WHERE id = :id"),
            {"id": UUID(stored["id"])},
        )
    (listed,) = client.get("/v1/snapshots", params={"cluster": "old"}).json()["items"]
    assert listed["groups"] == 0
    assert client.get(f"/v1/snapshots/{stored['id']}").json()["groups"] == 0


def _sample(name: str) -> str:
    return (SAMPLES / f"kafka-{name}.txt").read_text(encoding="utf-8")


class TestGroupsOfTheNewProtocols:
    """Share groups (KIP-932), Streams groups (KIP-1071) and consumer groups with epochs (KIP-848)."""

    def test_they_are_recorded_with_their_type_and_read_back_from_json(self, client: httpx.Client) -> None:
        texts = [_sample(f"{name}-verbose") for name in ("share-groups-members", "streams-groups-members")]
        headers = {"content-type": "text/plain"}
        posted = client.post("/v1/snapshots?cluster=new", content="".join(texts), headers=headers)
        assert posted.status_code == 201, posted.text
        assert [warning["code"] for warning in posted.json()["warnings"]] == ["group_topics_missing"]
        document = client.get(posted.headers["location"]).json()["document"]
        assert [(group["group_id"], group["type"]) for group in document["groups"]] == [
            ("alerts", "share"),
            ("enrichment", "streams"),
        ]
        assert document["groups"][1]["members"][1]["target_tasks"] == {
            "active": ["0_2"],
            "standby": [],
            "warmup": ["1_1"],
        }
        again = client.post("/v1/snapshots", json=document)
        assert again.json()["content_hash"] == posted.json()["content_hash"]

    def test_a_group_plan_takes_the_coordinators_assignor(self, client: httpx.Client) -> None:
        """`range` of a group with epochs is the server's, a share group has `simple`, a Streams group has tasks."""
        members = (
            "\nGROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT TARGET-EPOCH "
            "TARGET-ASSIGNMENT\nserver c-1 /10.0.0.1 c 2 5 orders:0,1 5 orders:0,1\n"
        )
        state = "\nGROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS\nserver k:9092 (1) range Stable 1\n"
        texts = [_sample("topics-describe"), members, state]
        texts += [_sample(f"{name}-verbose") for name in ("share-groups-members", "streams-groups-members")]
        headers = {"content-type": "text/plain"}
        snapshot = client.post("/v1/snapshots?cluster=new", content="\n".join(texts), headers=headers).json()["id"]

        def plan(group: str) -> httpx.Response:
            return client.post("/v1/plans/group", json={"snapshot_id": snapshot, "group": group})

        assert plan("server").json()["assignor"] == "server-range"
        assert plan("alerts").json()["assignor"] == "simple"
        only_error(problem(plan("enrichment"), 422, "conflicting_fields"), "/group")

    def test_a_group_that_is_not_classic_is_a_warning(self, client: httpx.Client) -> None:
        """kafka-python describes some groups, and writes the coordinator's error for the others."""
        document = json.loads((SAMPLES / "describe-groups.json").read_bytes())
        error = "[Error 69] GroupIdNotFoundError: Group server is not a classic group."
        document["server"] = {"group_id": "server", "group_state": "Dead", "members": [], "error": error}
        posted = _form(client, brokers=BROKERS, groups=json.dumps(document).encode())
        assert posted.json()["groups"] == 2
        (warning,) = [one for one in posted.json()["warnings"] if one["code"] == "groups_not_described"]
        assert "not a classic group" in warning["detail"]
        assert "'server'" in warning["detail"]
