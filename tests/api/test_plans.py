"""`/v1/plans`: find, read, slice, compare, hand over, look at, delete."""

import csv
import io
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import numpy as np
import pyarrow as pa
import pytest

from app.api.examples import (
    EXAMPLE_GROUP_PLAN_ID,
    EXAMPLE_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_STREAMS_PLAN_ID,
    SNAPSHOT,
)
from app.core.model import Placement
from app.formats.kafka_files import reassignment
from app.formats.tables import placement_tables
from app.services.plans import FORMATS
from app.services.plans.kinds import KINDS
from tests.api.contract import SNAPSHOT_ID, UNKNOWN_ID, brokers, only_error, place, problem, topic
from tests.formats.readers.replica_assignment import read as read_assignment

PLAN = f"/v1/plans/{EXAMPLE_PLAN_ID}"
EXAMPLES = [
    str(plan_id)
    for plan_id in (EXAMPLE_REASSIGNMENT_PLAN_ID, EXAMPLE_STREAMS_PLAN_ID, EXAMPLE_PLAN_ID, EXAMPLE_GROUP_PLAN_ID)
]
"""The plans of a new service, newest first."""
REASSIGNMENT = "application/vnd.kafka.reassignment+json"
ARROW = "application/vnd.apache.arrow.stream"


def _placements(plan: dict[str, Any]) -> list[Placement]:
    return [
        Placement(placed["name"], placed["first_partition_id"], np.array(placed["replicas"], np.int32))
        for placed in plan["topics"]
    ]


def _pages(client: httpx.Client, path: str, **params: Any) -> Iterator[dict[str, Any]]:
    while True:
        response = client.get(path, params=params)
        assert response.status_code == 200, response.text
        yield response.json()
        if (token := response.json()["next_page_token"]) is None:
            return
        params["page_token"] = token


@pytest.fixture
def two_topics(client: httpx.Client) -> dict[str, Any]:
    """A plan of two topics, the second of which continues one."""
    plan: dict[str, Any] = place(client, topic("z", 7), topic("a", 5, 2, start_partition_id=40), seed=3).json()
    return plan


class TestList:
    """`GET /v1/plans`."""

    def test_newest_first_without_assignments(self, client: httpx.Client) -> None:
        plans = [place(client, topic(f"t{i}"), seed=i).json() for i in range(5)]
        page = client.get("/v1/plans").json()
        assert [item["id"] for item in page["items"]] == [*(p["id"] for p in reversed(plans)), *EXAMPLES]
        summary = page["items"][0]
        assert summary == {name: plans[-1][name] for name in summary}
        assert "topics" not in summary
        for newer, older in pairwise(page["items"]):
            assert newer["created_at"] >= older["created_at"]

    def test_filters(self, client: httpx.Client) -> None:
        client.post("/v1/snapshots", json=SNAPSHOT | {"cluster": "other"})
        other = client.get("/v1/snapshots", params={"cluster": "other"}).json()["items"][0]["id"]
        one = place(client, topic("a"), topic("b"), seed=1, labels={"team": "x", "stage": "p"}).json()["id"]
        two = place(client, topic("b"), seed=1, snapshot_id=other, labels={"team": "y=z"}).json()["id"]
        three = place(client, topic("c"), seed=1, brokers=brokers(3, 3)).json()["id"]
        example, change = str(EXAMPLE_PLAN_ID), str(EXAMPLE_REASSIGNMENT_PLAN_ID)
        for params, wanted in (
            ({"kind": "replicas"}, [three, two, one, example]),
            ({"kind": "group"}, [str(EXAMPLE_GROUP_PLAN_ID)]),
            ({"cluster": "other"}, [two]),
            ({"cluster": "example"}, [one, change, example]),
            ({"topic": "b"}, [two, one]),
            ({"topic": "c"}, [three]),
            ({"topic": "b", "cluster": "example"}, [one]),
            ({"label": "team=x"}, [one]),
            ({"label": ["team=x", "stage=p"]}, [one]),
            ({"label": ["team=x", "stage=q"]}, []),
            ({"label": "team=y=z"}, [two]),
            ({"label": "team="}, []),
            ({"cluster": "nobody's"}, []),
        ):
            page = client.get("/v1/plans", params=params).json()
            assert ([item["id"] for item in page["items"]], page["next_page_token"]) == (wanted, None), params

    def test_by_time(self, client: httpx.Client) -> None:
        plans = [place(client, topic(f"t{i}"), seed=i).json() for i in range(3)]
        middle = plans[1]["created_at"]
        newer = client.get("/v1/plans", params={"created_after": middle}).json()["items"]
        assert [item["id"] for item in newer] == [plans[2]["id"], plans[1]["id"]]
        older = client.get("/v1/plans", params={"created_before": middle}).json()["items"]
        assert [item["id"] for item in older] == [plans[0]["id"], *EXAMPLES]
        elsewhere = client.get("/v1/plans", params={"created_before": "2000-01-01T00:00:00+05:30"}).json()["items"]
        assert elsewhere == []

    @pytest.mark.parametrize("size", [1, 2, 5])
    def test_pages_while_new_plans_arrive(self, client: httpx.Client, size: int) -> None:
        """Plans that existed when the first page was read are on exactly one page, whatever is added meanwhile."""
        there = [place(client, topic(f"t{i}"), seed=i).json()["id"] for i in range(9)]
        seen: list[str] = []
        for i, page in enumerate(_pages(client, "/v1/plans", page_size=size)):
            seen += [item["id"] for item in page["items"]]
            place(client, topic(f"late-{i}"), seed=i)
        assert seen == [*reversed(there), *EXAMPLES]

    @pytest.mark.parametrize(
        ("params", "pointer"),
        [
            ({"kind": "group-of-seven"}, "#query/kind"),
            ({"topic": "a b"}, "#query/topic"),
            ({"cluster": ""}, "#query/cluster"),
            ({"label": "no-equals"}, "#query/label/0"),
            ({"label": ["a=b", "=b"]}, "#query/label/1"),
            ({"created_after": "yesterday"}, "#query/created_after"),
            ({"created_after": "2026-01-01T00:00:00"}, "#query/created_after"),
            ({"created_before": "1700000000"}, "#query/created_before"),
            ({"created_before": "2026-02-30T00:00:00Z"}, "#query/created_before"),
            ({"page_size": "1001"}, "#query/page_size"),
        ],
    )
    def test_bad_filters(self, client: httpx.Client, params: dict[str, Any], pointer: str) -> None:
        only_error(problem(client.get("/v1/plans", params=params), 422, "validation"), pointer)

    @pytest.mark.parametrize("token", ["x", "AAAA", "*"])
    def test_a_token_that_no_page_gave(self, client: httpx.Client, token: str) -> None:
        found = problem(client.get("/v1/plans", params={"page_token": token}), 422, "invalid_page_token")
        assert only_error(found, "#query/page_token")["value"] == token


class TestGet:
    """`GET /v1/plans/{id}`."""

    def test_etag(self, client: httpx.Client) -> None:
        response = client.get(PLAN)
        etag = response.headers["etag"]
        assert client.get(PLAN).headers["etag"] == etag
        for condition in (etag, f'"other", {etag}', f"W/{etag}", "*"):
            again = client.get(PLAN, headers={"If-None-Match": condition})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
        assert client.get(PLAN, headers={"If-None-Match": '"other"'}).content == response.content

    def test_each_representation_has_an_etag_of_its_own(self, client: httpx.Client) -> None:
        types = ["application/json", REASSIGNMENT, "text/csv", "text/markdown", "image/svg+xml", ARROW]
        responses = [client.get(PLAN, headers={"Accept": media_type}) for media_type in types]
        assert [response.status_code for response in responses] == [200] * len(types)
        assert [r.headers["content-type"].split(";")[0] for r in responses] == types
        assert len({response.headers["etag"] for response in responses}) == len(types)
        assert all(response.headers["vary"].startswith("Accept") for response in responses)

    @pytest.mark.parametrize(
        ("accept", "media_type"),
        [
            ("*/*", "application/json"),
            ("", "application/json"),
            ("application/*", "application/json"),
            ("text/*", "text/csv"),
            ("text/html, */*;q=0.1", "application/json"),
            ("text/csv;q=0.5, text/markdown;q=0.9", "text/markdown"),
            ("text/csv, application/json;q=0.9", "text/csv"),
            ("text/*;q=0.2, text/markdown;q=0.1, application/json;q=0.05", "text/csv"),
            ("*/*, application/json;q=0", REASSIGNMENT),
            ("TEXT/CSV", "text/csv"),
            ("text/csv; charset=utf-8; q=1.0", "text/csv"),
            (f"{ARROW};q=0.001", ARROW),
        ],
    )
    def test_negotiation(self, client: httpx.Client, accept: str, media_type: str) -> None:
        response = client.get(PLAN, headers={"Accept": accept})
        assert response.headers["content-type"].split(";")[0] == media_type

    @pytest.mark.parametrize("accept", ["text/html", "application/xml, text/html;q=0.9", "application/json;q=0", "x"])
    def test_nothing_acceptable(self, client: httpx.Client, accept: str) -> None:
        found = problem(client.get(PLAN, headers={"Accept": accept}), 406, "not_acceptable")
        assert "application/json" in found["offered"]

    def test_unknown(self, client: httpx.Client) -> None:
        assert problem(client.get(f"/v1/plans/{UNKNOWN_ID}"), 404, "plan_not_found")["plan_id"] == UNKNOWN_ID


class TestPartitions:
    """`GET /v1/plans/{id}/partitions`."""

    def _all(self, plan: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"topic": t["name"], "partition": t["first_partition_id"] + i, "leader": row[0], "replicas": row}
            for t in plan["topics"]
            for i, row in enumerate(t["replicas"])
        ]

    @pytest.mark.parametrize("size", [1, 2, 5, 7, 11, 12, 13])
    def test_pages_are_the_plans_own_rows(self, client: httpx.Client, two_topics: dict[str, Any], size: int) -> None:
        pages = list(_pages(client, f"/v1/plans/{two_topics['id']}/partitions", page_size=size))
        assert [item for page in pages for item in page["items"]] == self._all(two_topics)
        assert {page["total"] for page in pages} == {12}
        assert all(len(page["items"]) == size for page in pages[:-1])

    def test_of_one_topic(self, client: httpx.Client, two_topics: dict[str, Any]) -> None:
        pages = list(_pages(client, f"/v1/plans/{two_topics['id']}/partitions", topic="a", page_size=2))
        assert [item for page in pages for item in page["items"]] == self._all(two_topics)[7:]
        assert pages[0]["total"] == 5

    def test_of_a_topic_that_is_not_in_it(self, client: httpx.Client) -> None:
        page = client.get(f"{PLAN}/partitions", params={"topic": "elsewhere"}).json()
        assert page == {"items": [], "total": 0, "next_page_token": None}

    def test_unknown_and_bad(self, client: httpx.Client) -> None:
        problem(client.get(f"/v1/plans/{UNKNOWN_ID}/partitions"), 404, "plan_not_found")
        found = problem(client.get(f"{PLAN}/partitions", params={"page_token": "AAAA"}), 422, "invalid_page_token")
        only_error(found, "#query/page_token")
        only_error(problem(client.get(f"{PLAN}/partitions", params={"topic": ".."}), 422, "validation"), "#query/topic")


class TestDiff:
    """`GET /v1/plans/{id}/diff`."""

    def test_against_its_own_snapshot(self, client: httpx.Client) -> None:
        plan = place(client, topic("orders", 3), topic("new", 4), fixed_start_index=1).json()
        diff = client.get(f"/v1/plans/{plan['id']}/diff").json()
        before = {p["partition"]: p["replicas"] for p in SNAPSHOT["topics"][0]["partitions"]}
        after = plan["topics"][0]["replicas"]
        changed = [i for i in before if before[i] != after[i]]
        assert diff["summary"] == {
            "partitions": 7,
            "partitions_added": 5,
            "partitions_removed": 0,
            "partitions_changed": len(changed),
            "replicas_added": sum(len({*after[i]} - {*before[i]}) for i in before),
            "replicas_removed": sum(len({*before[i]} - {*after[i]}) for i in before),
            "preferred_leaders_changed": sum(before[i][0] != after[i][0] for i in before),
        }
        by_partition = {(item["topic"], item["partition"]): item for item in diff["items"]}
        assert sorted(by_partition) == list(by_partition), "by topic and partition"
        assert by_partition["orders", 2]["before"] is None
        first = by_partition["orders", changed[0]]
        assert (first["before"], first["after"]) == (before[changed[0]], after[changed[0]])
        assert set(first["adding_replicas"]) == {*first["after"]} - {*first["before"]}
        assert set(first["removing_replicas"]) == {*first["before"]} - {*first["after"]}
        assert client.get(f"/v1/plans/{plan['id']}/diff", params={"against": SNAPSHOT_ID}).json() == diff

    def test_against_another_plan(self, client: httpx.Client) -> None:
        one = place(client, topic("t", 9), seed=1).json()
        other = place(client, topic("t", 6), seed=2).json()
        diff = client.get(f"/v1/plans/{other['id']}/diff", params={"against": one["id"]}).json()
        assert (diff["summary"]["partitions_added"], diff["summary"]["partitions_removed"]) == (0, 3)
        gone = [item for item in diff["items"] if item["after"] is None]
        assert [item["before"] for item in gone] == one["topics"][0]["replicas"][6:]
        back = client.get(f"/v1/plans/{one['id']}/diff", params={"against": other["id"]}).json()
        assert back["summary"]["partitions_added"] == 3
        assert back["summary"]["replicas_added"] == diff["summary"]["replicas_removed"]

    def test_against_itself(self, client: httpx.Client) -> None:
        diff = client.get(f"{PLAN}/diff", params={"against": str(EXAMPLE_PLAN_ID)}).json()
        assert (diff["items"], diff["next_page_token"]) == ([], None)
        assert {count for name, count in diff["summary"].items() if name != "partitions"} == {0}

    @pytest.mark.parametrize("size", [1, 3, 5, 9, 10])
    def test_pages(self, client: httpx.Client, size: int) -> None:
        one, other = (place(client, topic("a", 4), topic("b", 5), seed=seed).json()["id"] for seed in (1, 2))
        path, params = f"/v1/plans/{other}/diff", {"against": one}
        whole = client.get(path, params=params).json()
        pages = list(_pages(client, path, page_size=size, **params))
        assert [item for page in pages for item in page["items"]] == whole["items"]
        assert all(page["summary"] == whole["summary"] for page in pages)
        assert all(len(page["items"]) == size for page in pages[:-1])

    def test_against_nothing(self, client: httpx.Client) -> None:
        plan = place(client, brokers=brokers(3, 3), seed=1).json()["id"]
        problem(client.get(f"/v1/plans/{plan}/diff"), 404, "snapshot_not_found")
        problem(client.get(f"/v1/plans/{plan}/diff", params={"against": UNKNOWN_ID}), 404, "snapshot_not_found")
        problem(client.get(f"/v1/plans/{UNKNOWN_ID}/diff"), 404, "plan_not_found")
        found = problem(client.get(f"/v1/plans/{plan}/diff", params={"against": "it"}), 422, "validation")
        only_error(found, "#query/against")


class TestExport:
    """`GET /v1/plans/{id}/export`."""

    def _export(self, client: httpx.Client, plan: dict[str, Any], name: str, **params: str) -> httpx.Response:
        response = client.get(f"/v1/plans/{plan['id']}/export", params={"format": name, **params})
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == FORMATS[name].media_type
        wanted = f'attachment; filename="{params.get("topic", "plan")}-{plan["id"]}.{FORMATS[name].suffix}"'
        assert response.headers["content-disposition"] == wanted
        return response

    def test_reassignment(self, client: httpx.Client, two_topics: dict[str, Any]) -> None:
        written = self._export(client, two_topics, "reassignment")
        assert written.content == reassignment.write_placements(_placements(two_topics))
        assert [(p.topic, p.partition, list(p.replicas)) for p in reassignment.read(written.text).partitions] == [
            (t["name"], t["first_partition_id"] + i, row)
            for t in two_topics["topics"]
            for i, row in enumerate(t["replicas"])
        ]
        assert client.get(f"/v1/plans/{two_topics['id']}/export").content == written.content, "it is the default"

    def test_replica_assignment(self, client: httpx.Client, two_topics: dict[str, Any]) -> None:
        written = self._export(client, two_topics, "replica_assignment", topic="z").text
        rows = two_topics["topics"][0]["replicas"]
        assert written == reassignment.write_replica_assignment(np.array(rows, np.int32)) + "\n"
        assert read_assignment(written.strip()).tolist() == rows

    def test_replica_assignment_goes_on_from_what_there_is(self, client: httpx.Client) -> None:
        """`kafka-topics --alter` counts off the partitions that the topic has already."""
        plan = place(client, topic("orders", 2, start_partition_id=2), seed=1).json()
        written = self._export(client, plan, "replica_assignment").text
        existing = [partition["replicas"] for partition in SNAPSHOT["topics"][0]["partitions"]]
        assert read_assignment(written.strip()).tolist() == existing + plan["topics"][0]["replicas"]

    def test_replica_assignment_of_what_it_cannot_say(self, client: httpx.Client, two_topics: dict[str, Any]) -> None:
        path = f"/v1/plans/{two_topics['id']}/export"
        assert (
            "name one of: z, a"
            in problem(client.get(path, params={"format": "replica_assignment"}), 422, "not_exportable")["detail"]
        )
        params = {"format": "replica_assignment", "topic": "a"}
        assert "first 40" in problem(client.get(path, params=params), 422, "not_exportable")["detail"]

    def test_csv(self, client: httpx.Client, two_topics: dict[str, Any]) -> None:
        written = self._export(client, two_topics, "csv")
        assert written.content == placement_tables.write_csv(_placements(two_topics))
        rows = list(csv.DictReader(io.StringIO(written.text, newline="")))
        assert [(row["topic"], int(row["partition"]), int(row["leader"]), row["replicas"]) for row in rows] == [
            (t["name"], t["first_partition_id"] + i, row[0], ";".join(map(str, row)))
            for t in two_topics["topics"]
            for i, row in enumerate(t["replicas"])
        ]

    def test_markdown(self, client: httpx.Client, two_topics: dict[str, Any]) -> None:
        written = self._export(client, two_topics, "markdown").text
        assert written == placement_tables.write_markdown(_placements(two_topics), limit=1000)

    def test_arrow(self, client: httpx.Client, two_topics: dict[str, Any]) -> None:
        written = self._export(client, two_topics, "arrow")
        assert written.content == placement_tables.write_arrow(_placements(two_topics))
        with pa.ipc.open_stream(written.content) as stream:
            table = stream.read_all()
        assert table.column_names == ["topic", "partition", "replicas"]
        assert table["partition"].to_pylist() == [*range(7), *range(40, 45)]
        assert table["replicas"].to_pylist() == [row for t in two_topics["topics"] for row in t["replicas"]]

    @pytest.mark.parametrize("name", sorted(KINDS["replicas"].exports))
    def test_of_one_topic_and_its_etag(self, client: httpx.Client, two_topics: dict[str, Any], name: str) -> None:
        response = self._export(client, two_topics, name, topic="z")
        assert b"40" not in response.content or name == "arrow"
        etag = {"If-None-Match": response.headers["etag"]}
        again = client.get(response.request.url, headers=etag)
        assert (again.status_code, again.content) == (304, b"")

    @pytest.mark.parametrize("name", sorted(set(KINDS["replicas"].exports) - {"replica_assignment"}))
    def test_accept_gives_the_same_file(self, client: httpx.Client, two_topics: dict[str, Any], name: str) -> None:
        accepted = client.get(f"/v1/plans/{two_topics['id']}", headers={"Accept": FORMATS[name].media_type})
        assert accepted.content == self._export(client, two_topics, name).content

    def test_if_match(self, client: httpx.Client) -> None:
        etag = client.get(f"/v1/snapshots/{SNAPSHOT_ID}").headers["etag"]
        assert client.get(f"{PLAN}/export", headers={"If-Match": etag}).status_code == 200
        client.post("/v1/snapshots", json=SNAPSHOT | {"topics": []})
        problem(client.get(f"{PLAN}/export", headers={"If-Match": etag}), 412, "snapshot_changed")
        assert client.get(f"{PLAN}/export").status_code == 200

    def test_unknown_and_bad(self, client: httpx.Client) -> None:
        problem(client.get(f"/v1/plans/{UNKNOWN_ID}/export"), 404, "plan_not_found")
        found = problem(client.get(f"{PLAN}/export", params={"format": "xlsx"}), 422, "validation")
        only_error(found, "#query/format")
        problem(client.get(f"{PLAN}/export", params={"topic": "elsewhere"}), 422, "not_exportable")

    def test_no_batch_of_a_plan_that_has_none(self, client: httpx.Client) -> None:
        for params, field in (({"batch": 1}, "batch"), ({"inverse": True}, "inverse")):
            found = problem(client.get(f"{PLAN}/export", params=params), 422, "conflicting_fields")
            assert found["detail"].startswith(f"{field} is of the format batch")
        for name in ("batch", "batches", "rollback", "text"):
            found = problem(client.get(f"{PLAN}/export", params={"format": name}), 422, "not_exportable")
            assert found["detail"].endswith(f"not {name}")
        params = {"format": "batches", "topic": SNAPSHOT["topics"][0]["name"]}
        assert "whole plan" in problem(client.get(f"{PLAN}/export", params=params), 422, "not_exportable")["detail"]
        only_error(
            problem(client.get(f"{PLAN}/export", params={"format": "batch", "batch": 0}), 422, "validation"),
            "#query/batch",
        )


class TestPicture:
    """`GET /v1/plans/{id}/picture.svg`."""

    def test_it_is_a_picture(self, client: httpx.Client) -> None:
        response = client.get(f"{PLAN}/picture.svg")
        assert (response.status_code, response.headers["content-type"]) == (200, "image/svg+xml")
        assert ET.fromstring(response.content).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 — ours
        assert all(str(broker["id"]).encode() in response.content for broker in SNAPSHOT["brokers"])
        again = client.get(f"{PLAN}/picture.svg", headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")

    def test_of_listed_brokers(self, client: httpx.Client) -> None:
        plan = place(client, brokers=brokers(3, 0), seed=1).json()["id"]
        assert client.get(f"/v1/plans/{plan}/picture.svg").status_code == 200

    def test_unknown(self, client: httpx.Client) -> None:
        problem(client.get(f"/v1/plans/{UNKNOWN_ID}/picture.svg"), 404, "plan_not_found")


class TestDelete:
    """`DELETE /v1/plans/{id}`."""

    def test_then_it_is_gone(self, client: httpx.Client) -> None:
        plan = place(client, seed=9).json()["id"]
        response = client.delete(f"/v1/plans/{plan}")
        assert (response.status_code, response.content) == (204, b"")
        for path in ("", "/partitions", "/diff", "/export", "/picture.svg"):
            problem(client.get(f"/v1/plans/{plan}{path}"), 404, "plan_not_found")
        problem(client.delete(f"/v1/plans/{plan}"), 404, "plan_not_found")
        assert plan not in {item["id"] for item in client.get("/v1/plans").json()["items"]}

    def test_then_requested_again(self, client: httpx.Client) -> None:
        first = place(client, seed=9).json()
        client.delete(f"/v1/plans/{first['id']}")
        second = place(client, seed=9).json()
        assert second["id"] != first["id"]
        assert {**second, "id": 0, "created_at": 0} == {**first, "id": 0, "created_at": 0}
        assert client.get(f"/v1/plans/{second['id']}").status_code == 200
