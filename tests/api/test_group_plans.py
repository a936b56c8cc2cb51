"""`/v1/plans` where the plan is a group's: compared, handed over, looked at."""

import csv
import io
from collections import Counter
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pyarrow as pa
import pytest

from app.api.examples import EXAMPLE_GROUP_PLAN_ID, EXAMPLE_PLAN_ID, SNAPSHOT_WITH_GROUP
from app.core.groups.registry import ASSIGNORS
from app.services.plans import FORMATS
from app.services.plans.kinds import KINDS
from tests.api.contract import SNAPSHOT_ID, UNKNOWN_ID, only_error, problem
from tests.api.group_requests import brokers, member, owning, plan, topic
from tests.api.test_plans import _pages

Json = dict[str, Any]
TABLES = sorted(KINDS["group"].exports)


def readers(found: Json) -> dict[tuple[str, int], list[str]]:
    """Who reads each partition, by the plan's own assignment."""
    read: dict[tuple[str, int], list[str]] = {}
    for member_id, by_topic in found["assignment"].items():
        for name, partitions in by_topic.items():
            for partition in partitions:
                read.setdefault((name, partition), []).append(member_id)
    return read


def diff(client: httpx.Client, found: Json, against: Json | None = None, **params: Any) -> Json:
    named = {} if against is None else {"against": against["id"]}
    response = client.get(f"/v1/plans/{found['id']}/diff", params=named | params)
    assert response.status_code == 200, response.text
    document: Json = response.json()
    return document


@pytest.fixture
def recorded(client: httpx.Client) -> str:
    """A snapshot that has a group."""
    response = client.post("/v1/snapshots", json=SNAPSHOT_WITH_GROUP)
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


class TestDiff:
    """`GET /v1/plans/{id}/diff`."""

    @pytest.mark.parametrize("assignor", [name for name, one in ASSIGNORS.items() if one.is_exclusive])
    def test_against_what_members_owned_is_the_plans_own_handover(self, client: httpx.Client, assignor: str) -> None:
        """Both state the next rebalance's effect on members' partitions; no member subscribes to u any more."""
        members = [owning("m0", "a", 0, 1, 2, 3), owning("m1", "b", 4), owning("m2", "c")]
        members[2]["owned_partitions"] = {"u": [0]}
        found = plan(client, assignor=assignor, members=members, topics=[topic(), topic("u", 2)])
        compared = diff(client, found)
        assert compared["summary"] == found["handover"]
        before = {**{("t", p): "m0" for p in range(4)}, ("t", 4): "m1", ("u", 0): "m2"}
        after = {key: ids[0] for key, ids in readers(found).items()}
        assert [(item["topic"], item["partition"], item["before"], item["after"]) for item in compared["items"]] == [
            (*key, [before[key]] if key in before else None, [after[key]] if key in after else None)
            for key in sorted({*before, *after})
            if before.get(key) != after.get(key)
        ]

    def test_what_two_claim_is_believed_of_neither(self, client: httpx.Client) -> None:
        """As the plan has it, without nonexistent partitions."""
        members = [owning("m0", None, 0, 1), owning("m1", None, 1, 2, 17)]
        found = plan(client, assignor="roundrobin", members=members)
        compared = diff(client, found)
        assert compared["summary"] == found["handover"]
        [claimed] = [item for item in compared["items"] if item["partition"] == 1]
        assert (claimed["before"], claimed["after"]) == (None, readers(found)["t", 1])
        assert {item["partition"] for item in compared["items"]} < set(range(6))

    def test_of_a_recorded_group_is_against_what_it_was_assigned(self, client: httpx.Client, recorded: str) -> None:
        found = plan(client, snapshot_id=recorded, group="billing", assignor="cooperative-sticky")
        compared = diff(client, found)
        assert (
            compared["summary"]
            == found["handover"]
            == {"kept": 2, "moved": 0, "taken_up": 0, "dropped": 0, "revoked": 0}
        )
        assert compared["items"] == []

    def test_by_id_and_not_by_place(self, client: httpx.Client) -> None:
        """The same members in another order are the same members."""
        members = [owning("m0", None, 0, 1, 2), owning("m1", None, 3, 4, 5)]
        one = plan(client, assignor="sticky", members=members)
        other = plan(client, assignor="sticky", members=members[::-1])
        assert (readers(one), one["id"] == other["id"]) == (readers(other), False)
        compared = diff(client, one, other)
        assert compared["summary"] == {"kept": 6, "moved": 0, "taken_up": 0, "dropped": 0, "revoked": 0}

    def test_against_another_group_plan(self, client: httpx.Client) -> None:
        """m-c is new, m-a has gone, and u is no longer read."""
        one = plan(client, members=[member("m-a", "a", "t", "u"), member("m-b", "b")], topics=[topic(), topic("u", 1)])
        other = plan(client, members=[member("m-b", "b"), member("m-c", "c")], topics=[topic(), topic("u", 1)])
        before, after = readers(one), readers(other)
        compared = diff(client, other, one)
        both = before.keys() & after.keys()
        assert compared["summary"] == {
            "kept": sum(before[key] == after[key] for key in both),
            "moved": sum(before[key] != after[key] for key in both),
            "taken_up": 0,
            "dropped": 1,
            "revoked": sum(before[key] == ["m-b"] and after[key] != ["m-b"] for key in both),
        }
        last = {"topic": "u", "partition": 0, "before": ["m-a"], "after": None}
        assert compared["items"][-1] == last
        back = diff(client, one, other)
        assert back["items"][-1] == last | {"before": None, "after": ["m-a"]}

    def test_of_members_that_share(self, client: httpx.Client) -> None:
        """A share group of Kafka 4.0, each of whose members reads everything."""
        share = {"assignor": "simple", "kafka_version": "4.0"}
        one = plan(client, **share, members=[member("m0"), member("m1")])
        other = plan(client, **share, members=[member("m1"), member("m2"), member("m3")])
        compared = diff(client, other, one)
        assert compared["summary"] == {"kept": 0, "moved": 6, "taken_up": 0, "dropped": 0, "revoked": 0}
        # In the order of the later group, whoever has left it last.
        assert compared["items"][0] == {
            "topic": "t",
            "partition": 0,
            "before": ["m1", "m0"],
            "after": ["m1", "m2", "m3"],
        }
        assert diff(client, one)["summary"]["taken_up"] == 6, "no member owned anything"

    @pytest.mark.parametrize("size", [1, 4, 6, 7])
    def test_pages(self, client: httpx.Client, size: int) -> None:
        found = plan(client, topics=[topic("a", 3), topic("t", 4)], members=[member("m0", None, "t", "a")])
        pages = list(_pages(client, f"/v1/plans/{found['id']}/diff", page_size=size))
        expected = [("a", p) for p in range(3)] + [("t", p) for p in range(4)]
        assert [(item["topic"], item["partition"]) for page in pages for item in page["items"]] == expected
        assert all(len(page["items"]) == size for page in pages[:-1])

    def test_what_it_is_not_compared_with(self, client: httpx.Client) -> None:
        found = plan(client)["id"]
        for path, against, code, status in (
            (found, str(EXAMPLE_PLAN_ID), "conflicting_fields", 422),
            (str(EXAMPLE_PLAN_ID), found, "conflicting_fields", 422),
            (found, SNAPSHOT_ID, "conflicting_fields", 422),
            (found, UNKNOWN_ID, "plan_not_found", 404),
        ):
            rejection = problem(client.get(f"/v1/plans/{path}/diff", params={"against": against}), status, code)
            assert only_error(rejection, "#query/against")["value"] == against
            assert against in rejection["detail"]


class TestExport:
    """`GET /v1/plans/{id}/export`."""

    @pytest.fixture
    def found(self, client: httpx.Client) -> Json:
        """A plan with readers in rack, across racks, without a rack, and a partition without a known rack."""
        return plan(
            client,
            brokers=[*brokers(), {"id": 4}],
            assignor="roundrobin",
            topics=[
                topic("t", 7),
                {"name": "u", "partitions": [{"partition": 0, "replicas": [4]}]},
                topic("unread", 2),
            ],
            members=[member("m,0", "a", "t", "u"), member("m1", "c"), member("m2", None, "t")],
        )

    def _export(self, client: httpx.Client, found: Json, name: str, **params: str) -> httpx.Response:
        response = client.get(f"/v1/plans/{found['id']}/export", params={"format": name, **params})
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == FORMATS[name].media_type
        wanted = f'attachment; filename="{params.get("topic", "plan")}-{found["id"]}.{FORMATS[name].suffix}"'
        assert response.headers["content-disposition"] == wanted
        return response

    def test_csv_states_the_assignment_and_its_locality(self, client: httpx.Client, found: Json) -> None:
        rows = list(csv.DictReader(io.StringIO(self._export(client, found, "csv").text, newline="")))
        read = {(row["topic"], int(row["partition"])): row["member_id"] for row in rows}
        assert read == {key: ids[0] for key, ids in readers(found).items()}
        counts = Counter(row["locality"] for row in rows)
        assert counts == {name: found["locality"][name] for name in ("in_rack", "cross_rack", "unknown")}
        assert min(counts.values()) > 0
        racks = {"m,0": "a", "m1": "c", "m2": ""}
        assert all(row["rack_id"] == racks[row["member_id"]] for row in rows)
        for each in found["loads"]["per_member"]:
            own = Counter(row["locality"] for row in rows if row["member_id"] == each["member_id"])
            assert own == Counter({name: each[name] for name in ("in_rack", "cross_rack", "unknown")})

    def test_every_table_says_the_same(self, client: httpx.Client, found: Json) -> None:
        rows = list(csv.reader(io.StringIO(self._export(client, found, "csv").text, newline="")))
        with pa.ipc.open_stream(self._export(client, found, "arrow").content) as stream:
            table = stream.read_all()
        columns = [table.column(name).to_pylist() for name in rows[0]]
        assert [["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)] == rows[1:]
        markdown = self._export(client, found, "markdown").text
        assert "### `t`" in markdown
        assert markdown.count("\n| ") == len(rows) - 1 + 2  # a line of names a topic

    @pytest.mark.parametrize("name", TABLES)
    def test_of_one_topic_and_its_etag(self, client: httpx.Client, found: Json, name: str) -> None:
        response = self._export(client, found, name, topic="u")
        assert len(response.content) < len(self._export(client, found, name).content)
        again = client.get(response.request.url, headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")

    @pytest.mark.parametrize("name", TABLES)
    def test_accept_gives_the_same_file(self, client: httpx.Client, found: Json, name: str) -> None:
        accepted = client.get(f"/v1/plans/{found['id']}", headers={"Accept": FORMATS[name].media_type})
        assert accepted.content == self._export(client, found, name).content

    def test_of_a_group_without_members(self, client: httpx.Client) -> None:
        found = plan(client, members=[])
        assert self._export(client, found, "csv").text == "topic,partition,member_id,rack_id,locality\r\n"

    def test_a_line_for_each_that_shares(self, client: httpx.Client) -> None:
        found = plan(client, assignor="simple", topics=[topic("t", 1)], members=[member("m0", "a"), member("m1", "b")])
        assert self._export(client, found, "csv").text.splitlines()[1:] == ["t,0,m0,a,in_rack", "t,0,m1,b,cross_rack"]

    def test_of_a_recorded_group(self, client: httpx.Client, recorded: str) -> None:
        found = plan(client, snapshot_id=recorded, group="billing")
        lines = self._export(client, found, "csv").text.splitlines()
        assert lines[1:] == [
            "orders,0,billing-0-35ee,use1-az1,in_rack",
            "orders,1,billing-1-80b7,use1-az2,in_rack",
        ]

    @pytest.mark.parametrize("name", [None, "reassignment", "replica_assignment"])
    def test_formats_that_move_replicas_are_rejected(self, client: httpx.Client, found: Json, name: str | None) -> None:
        params = {} if name is None else {"format": name}
        rejection = problem(client.get(f"/v1/plans/{found['id']}/export", params=params), 422, "not_exportable")
        assert rejection["formats"] == ["csv", "markdown", "arrow"]
        assert "csv, markdown, arrow" in rejection["detail"]
        assert (name or "reassignment") in rejection["detail"]

    def test_what_is_not_offered_is_not_acceptable(self, client: httpx.Client, found: Json) -> None:
        headers = {"Accept": FORMATS["reassignment"].media_type}
        rejection = problem(client.get(f"/v1/plans/{found['id']}", headers=headers), 406, "not_acceptable")
        offered = ["application/json", "text/csv", "text/markdown", FORMATS["arrow"].media_type, "image/svg+xml"]
        assert rejection["offered"] == offered

    def test_of_a_topic_that_is_not_in_it(self, client: httpx.Client, found: Json) -> None:
        params = {"format": "csv", "topic": "unread"}
        problem(client.get(f"/v1/plans/{found['id']}/export", params=params), 422, "not_exportable")


class TestPicture:
    """`GET /v1/plans/{id}/picture.svg`."""

    def test_it_is_a_picture_of_members_in_racks(self, client: httpx.Client) -> None:
        found = plan(client, members=[member("m-a", "a"), member("m-none", None)])
        response = client.get(f"/v1/plans/{found['id']}/picture.svg")
        assert (response.status_code, response.headers["content-type"]) == (200, "image/svg+xml")
        assert ET.fromstring(response.content).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 — ours
        for text in ("m-a, rack a:", "m-none, no rack:", "No member is in rack b, c.", "t under range"):
            assert text in response.text
        again = client.get(response.request.url, headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        accepted = client.get(f"/v1/plans/{found['id']}", headers={"Accept": "image/svg+xml"})
        assert accepted.content == response.content

    def test_of_topics_with_unknown_replicas(self, client: httpx.Client) -> None:
        found = plan(client, brokers=None, topics=[{"name": "t", "partitions": 3}])
        picture = client.get(f"/v1/plans/{found['id']}/picture.svg")
        assert picture.status_code == 200
        assert "The rack in which partitions are read is unknown." in picture.text


def test_a_plan_of_listed_topics_without_brokers_is_read_in_every_way(client: httpx.Client) -> None:
    """If the places of replicas are unknown, every operation on the plan still works."""
    found = plan(client, brokers=None, topics=[{"name": "t", "partitions": 3}], assignor=["range", "optimal"])
    here = f"/v1/plans/{found['id']}"
    for path in ("", "/partitions", "/diff", "/export?format=csv", "/export?format=arrow", "/picture.svg"):
        assert client.get(here + path).status_code == 200, path
    assert client.get(f"/plans/{found['id']}").status_code == 200
    assert client.get(f"{here}/export?format=csv").text.count("unknown") == 3


def test_then_it_is_gone(client: httpx.Client) -> None:
    here = f"/v1/plans/{EXAMPLE_GROUP_PLAN_ID}"
    assert client.get(f"{here}/diff").json()["summary"]["kept"] > 0
    assert client.delete(here).status_code == 204
    for path in ("", "/partitions", "/diff", "/export", "/picture.svg"):
        problem(client.get(here + path), 404, "plan_not_found")
