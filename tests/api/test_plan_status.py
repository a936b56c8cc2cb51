"""`PATCH /v1/plans/{id}`, and fields of lists of plans: status, labels, notes, history, titles and summaries."""

from typing import Any, get_args

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_PLAN_ID, EXAMPLE_REASSIGNMENT_PLAN_ID, STORED_PLAN
from app.services.plans import Status
from app.services.plans.record import LONGEST, shortened, some
from app.services.plans.status import TRANSITIONS
from app.store.database import Database
from app.store.records import MOST_CHANGES
from tests.api.contract import UNKNOWN_ID, is_utc, only_error, place, problem

PLAN = f"/v1/plans/{EXAMPLE_PLAN_ID}"
PATHS = {
    "proposed": [],
    "approved": ["approved"],
    "executing": ["executing"],
    "executed": ["executing", "executed"],
    "failed": ["executing", "failed"],
    "superseded": ["superseded"],
}
"""How a new plan comes to each status."""


def _patch(client: httpx.Client, patch: dict[str, Any], **headers: str) -> httpx.Response:
    return client.patch(PLAN, json=patch, headers=headers)


class TestStatus:
    def test_every_status_has_its_transitions(self) -> None:
        assert set(TRANSITIONS) == set(get_args(Status)) == set(PATHS)

    def test_transitions(self, client: httpx.Client) -> None:
        """From each status to each, a plan of its own for every pair."""
        pairs = [(before, after) for before in PATHS for after in PATHS]
        for seed, (before, after) in enumerate(pairs):
            plan = place(client, seed=seed).headers["location"]
            for status in PATHS[before]:
                assert client.patch(plan, json={"status": status}).json()["status"] == status
            response = client.patch(plan, json={"status": after})
            if after == before or after in TRANSITIONS[before]:
                assert response.json()["status"] == after
                continue
            found = problem(response, 409, "impossible_transition")
            assert found["value"] == after
            assert found["allowed"] == list(TRANSITIONS[before])
            assert client.get(plan).json()["status"] == before

    def test_lists_are_filtered_by_it(self, client: httpx.Client) -> None:
        _patch(client, {"status": "approved"})
        listed = client.get("/v1/plans", params={"status": "approved"}).json()["items"]
        assert [plan["id"] for plan in listed] == [str(EXAMPLE_PLAN_ID)]
        assert len(client.get("/v1/plans", params={"status": "proposed"}).json()["items"]) == 3
        only_error(problem(client.get("/v1/plans", params={"status": "x"}), 422, "validation"), "#query/status")


class TestPatch:
    """JSON merge patch (RFC 7396)."""

    def test_the_plan_itself_does_not_change(self, client: httpx.Client) -> None:
        before = client.get(PLAN).json()
        patched = _patch(client, {"status": "approved", "labels": {"ticket": "OPS-17"}, "notes": "Sunday\n"}).json()
        assert patched == client.get(PLAN).json()
        changed = {name for name in before if before[name] != patched[name]}
        assert changed == {"status", "labels", "notes", "history"}
        assert client.post("/v1/plans/replicas", json=STORED_PLAN).json()["hash"] == before["hash"]

    def test_who_and_when(self, client: httpx.Client, database: Database) -> None:
        _patch(client, {"notes": "first"})
        with database.begin() as uow:
            _, secret = uow.api_keys.create("on-call", ["plan"])
        patched = _patch(client, {"status": "approved", "notes": None}, Authorization=f"Bearer {secret}").json()
        first, second = patched["history"]
        assert is_utc(first.pop("at"))
        assert first == {"by": "anyone", "notes": "first"}
        assert is_utc(second.pop("at"))
        assert second == {"by": "on-call", "status": "approved", "notes": None}

    def test_labels(self, client: httpx.Client) -> None:
        _patch(client, {"labels": {"a": "1", "b": "2"}})
        assert _patch(client, {"labels": {"a": None, "c": "3"}}).json()["labels"] == {
            "example": "documentation",
            "b": "2",
            "c": "3",
        }
        assert [plan["id"] for plan in client.get("/v1/plans", params={"label": "c=3"}).json()["items"]] == [
            str(EXAMPLE_PLAN_ID)
        ]
        assert _patch(client, {"labels": None}).json()["labels"] == {}

    def test_what_changes_nothing_leaves_no_trace(self, client: httpx.Client) -> None:
        before = client.get(PLAN)
        again = _patch(client, {"status": "proposed", "labels": {"x": None}, "notes": None})
        assert again.content == before.content
        assert (again.headers["etag"], again.json()["history"]) == (before.headers["etag"], [])

    def test_if_match(self, client: httpx.Client) -> None:
        etag = client.get(PLAN).headers["etag"]
        first = _patch(client, {"notes": "mine"}, **{"If-Match": etag})
        assert first.headers["etag"] == client.get(PLAN).headers["etag"] != etag
        problem(_patch(client, {"notes": "lost"}, **{"If-Match": etag}), 412, "plan_changed")
        assert client.get(PLAN).json()["notes"] == "mine"
        for current in (first.headers["etag"], f"W/{first.headers['etag']}", "*", f'"x", {first.headers["etag"]}'):
            assert _patch(client, {"notes": "mine"}, **{"If-Match": current}).status_code == 200
        assert client.get(PLAN, headers={"If-None-Match": etag}).status_code == 200

    @pytest.mark.parametrize("media_type", ["application/json", "application/merge-patch+json"])
    def test_media_types(self, client: httpx.Client, media_type: str) -> None:
        content = b'{"notes": "read"}'
        response = client.patch(PLAN, content=content, headers={"Content-Type": media_type})
        assert response.json()["notes"] == "read"

    def test_another_media_type(self, client: httpx.Client) -> None:
        response = client.patch(PLAN, content=b"notes=1", headers={"Content-Type": "text/plain"})
        problem(response, 415, "unsupported_media_type")

    def test_the_history_is_bounded(self, client: httpx.Client) -> None:
        for number in range(MOST_CHANGES + 3):
            _patch(client, {"notes": str(number)})
        history = client.get(PLAN).json()["history"]
        assert [change["notes"] for change in history] == [str(number) for number in range(3, MOST_CHANGES + 3)]

    @pytest.mark.parametrize(
        ("patch", "pointer"),
        [
            ({"status": "done"}, "/status"),
            ({"status": None}, "/status"),
            ({"statu": "approved"}, "/statu"),
            ({"hash": "0"}, "/hash"),
            ({"labels": {"a": 1}}, "/labels/a"),
            ({"labels": {"": "x"}}, "/labels/"),
            ({"labels": {"a": "x" * 256}}, "/labels/a"),
            ({"notes": "x" * 2001}, "/notes"),
            ({"notes": "\x00"}, "/notes"),
            ({"notes": 7}, "/notes"),
        ],
    )
    def test_bad_patches(self, client: httpx.Client, patch: dict[str, Any], pointer: str) -> None:
        found = problem(_patch(client, patch), 422, "validation")
        assert found["errors"][0]["pointer"].startswith(pointer)
        assert client.get(PLAN).json()["history"] == []

    def test_labels_in_all(self, client: httpx.Client) -> None:
        """The limit holds for the stored sum, and not for each patch alone."""
        for start in (0, 40):
            response = _patch(client, {"labels": {str(number): "" for number in range(start, start + 40)}})
        assert problem(response, 422, "validation")["errors"][0]["pointer"] == "/labels"

    def test_unknown(self, client: httpx.Client) -> None:
        problem(client.patch(f"/v1/plans/{UNKNOWN_ID}", json={"notes": "x"}), 404, "plan_not_found")


class TestWords:
    """Titles and summaries."""

    def test_of_the_examples(self, client: httpx.Client) -> None:
        listed = client.get("/v1/plans").json()["items"]
        words = {plan["kind"]: (plan["title"], plan["summary"]) for plan in listed}
        assert set(words) == {"replicas", "reassignment", "group", "streams"}
        for title, summary in words.values():
            assert 0 < len(title) <= LONGEST
            assert 0 < len(summary) <= LONGEST
        whole = client.get(f"/v1/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}").json()
        assert (whole["title"], whole["summary"]) == words["reassignment"]

    def test_a_list_has_the_fields_of_the_plan(self, client: httpx.Client) -> None:
        for listed in client.get("/v1/plans").json()["items"]:
            whole = client.get(f"/v1/plans/{listed['id']}").json()
            assert listed == {name: whole[name] for name in listed}

    @given(st.text())
    def test_shortened(self, text: str) -> None:
        assert len(shortened(text)) <= LONGEST
        assert shortened(text)[:-1] == text[: len(shortened(text)) - 1]

    @pytest.mark.parametrize(
        ("names", "text"),
        [([], "no topic"), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcdefghi"), "a, b and 7 more topics")],
    )
    def test_some(self, names: list[str], text: str) -> None:
        assert some(names, noun="topic") == text


def test_a_list_reads_neither_requests_nor_answers(client: httpx.Client, database: Database) -> None:
    """They may have megabytes: a list that read them would fail on invalid JSON here."""
    with database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE plans RENAME COLUMN answer TO answer_")
        connection.exec_driver_sql("ALTER TABLE plans RENAME COLUMN request TO request_")
    try:
        assert len(client.get("/v1/plans").json()["items"]) == 4
    finally:
        with database.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE plans RENAME COLUMN answer_ TO answer")
            connection.exec_driver_sql("ALTER TABLE plans RENAME COLUMN request_ TO request")


def test_plans_of_two_values_of_a_label_are_rejected(client: httpx.Client) -> None:
    """A plan has one: the filter would match none, or, if one value is dropped, too many."""
    twice = problem(client.get("/v1/plans?label=team%3Da&label=team%3Db"), 422, "conflicting_fields")
    assert "the label team" in twice["detail"]
    assert client.get("/v1/plans?label=team%3Da&label=team%3Da").status_code == 200
