"""`Idempotency-Key`: the same key and the same request get the same answer, and have one effect."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import CHECK_REQUEST, PLACE, SNAPSHOT
from app.store.database import Database
from tests.api.contract import SNAPSHOT_ID, only_error, problem, topic

CHECK = CHECK_REQUEST["check"]["value"]


def _post(client: httpx.Client, path: str, body: object, key: str = "k-1", **headers: str) -> httpx.Response:
    return client.post(path, json=body, headers={"Idempotency-Key": key, **headers})


class TestSameKey:
    """Sent again, as a client does that never saw the answer."""

    @pytest.mark.parametrize(
        ("path", "body", "status"),
        [("/v1/plans/replicas", PLACE, 201), ("/v1/snapshots", SNAPSHOT, 201), ("/v1/checks", CHECK, 200)],
    )
    def test_same_request(self, client: httpx.Client, path: str, body: object, status: int) -> None:
        first, again = _post(client, path, body), _post(client, path, body)
        assert (first.status_code, again.status_code) == (status, status)
        assert again.content == first.content
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        for name in ("content-type", "location", "etag"):
            assert again.headers.get(name) == first.headers.get(name)

    def test_a_job_is_made_once(self, client: httpx.Client) -> None:
        """Two without a key are two jobs; with one they are one."""
        jobs = [_post(client, "/v1/plans/replicas", PLACE, Prefer="respond-async") for _ in range(2)]
        assert [job.status_code for job in jobs] == [202, 202]
        assert jobs[0].headers["location"] == jobs[1].headers["location"]
        assert jobs[1].headers["retry-after"]
        others = [
            client.post("/v1/plans/replicas", json=PLACE, headers={"Prefer": "respond-async"}).headers["location"]
            for _ in range(2)
        ]
        assert others[0] != others[1]

    def test_the_answer_stays_although_the_world_changed(self, client: httpx.Client) -> None:
        first = _post(client, "/v1/checks", CHECK)
        client.post("/v1/snapshots", json=SNAPSHOT | {"topics": []})
        assert _post(client, "/v1/checks", CHECK).content == first.content
        assert _post(client, "/v1/checks", CHECK, key="k-2").json()["fresh"] is False

    @pytest.mark.parametrize(
        ("path", "body", "headers"),
        [
            ("/v1/plans/replicas", PLACE | {"seed": 43}, {}),
            ("/v1/plans/replicas", PLACE, {"Prefer": "respond-async"}),
            ("/v1/plans/replicas", PLACE, {"If-Match": "*"}),
            ("/v1/checks", CHECK, {}),
        ],
    )
    def test_another_request(self, client: httpx.Client, path: str, body: object, headers: dict[str, str]) -> None:
        assert _post(client, "/v1/plans/replicas", PLACE).status_code == 201
        assert "k-1" in problem(_post(client, path, body, **headers), 422, "idempotency_key_reused")["detail"]

    def test_a_failure_is_not_stored(self, client: httpx.Client) -> None:
        """Nothing happened, so that the key is free for the request that was meant."""
        impossible = PLACE | {"topics": [topic(replication_factor=99)]}
        problem(_post(client, "/v1/plans/replicas", impossible), 422, "invalid_replication_factor")
        assert _post(client, "/v1/plans/replicas", PLACE).status_code == 201

    def test_a_form_under_another_boundary_is_the_same(self, client: httpx.Client) -> None:
        """Clients draw the boundary anew for every sending."""

        def send(boundary: str, rack: str) -> httpx.Response:
            parts = {"cluster": "c", "brokers": f"h:9092 (id: 1 rack: {rack} isFenced: false) -> (\n"}
            lines = [
                f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                for name, value in parts.items()
            ]
            headers = {"Idempotency-Key": "f", "Content-Type": f'multipart/form-data; boundary="{boundary}"'}
            return client.post("/v1/snapshots", content="".join(lines) + f"--{boundary}--\r\n", headers=headers)

        first, again = send("one", "a"), send("quite-another", "a")
        assert (first.status_code, again.content) == (201, first.content)
        assert again.headers["idempotency-replayed"] == "true"
        problem(send("one", "b"), 422, "idempotency_key_reused")

    @pytest.mark.parametrize("key", ["", "a b", "ä", "k" * 256])
    def test_a_key_that_is_none(self, client: httpx.Client, key: str) -> None:
        response = client.post("/v1/checks", json=CHECK, headers={b"Idempotency-Key": key.encode("latin-1")})
        only_error(problem(response, 422, "validation"), "#header/idempotency-key")


class TestInFlight:
    """The same key while the first request is being answered."""

    def test_409_and_then_the_answer(self, client: httpx.Client, database: Database) -> None:
        """The test holds a lock for which the first request has to wait."""
        body = PLACE | {"seed": 5}
        with ThreadPoolExecutor(1) as elsewhere, database.engine.connect() as connection:
            connection.execute(sa.text("LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE"))
            first = elsewhere.submit(_post, client, "/v1/plans/replicas", body)
            waiting = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'plans'::regclass")
            while not connection.scalar(waiting):
                assert not first.done()
            second = _post(client, "/v1/plans/replicas", body)
            connection.rollback()
        problem(second, 409, "idempotency_key_in_flight")
        assert second.headers["retry-after"] == "1"
        assert first.result().status_code == 201
        again = _post(client, "/v1/plans/replicas", body)
        assert again.content == first.result().content

    def test_many_at_once_have_one_effect(self, client: httpx.Client) -> None:
        with ThreadPoolExecutor(8) as pool:
            calls = [
                pool.submit(_post, client, "/v1/plans/replicas", PLACE, "burst", Prefer="respond-async")
                for _ in range(24)
            ]
        answers = [call.result() for call in calls]
        assert {answer.status_code for answer in answers} <= {202, 409}
        assert len({answer.content for answer in answers if answer.status_code == 202}) == 1


class TestForgetting:
    """Answers are stored for a time that is a setting."""

    def test_old_answers_go(self, client: httpx.Client, database: Database) -> None:
        _post(client, "/v1/checks", CHECK)
        with database.begin() as uow:
            assert uow.answers.expire(older_than=timedelta(hours=1)) == 0
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE answers SET created_at = now() - interval '25 hours'"))
        with database.begin() as uow:
            assert uow.answers.expire(older_than=timedelta(hours=24)) == 1
        assert "idempotency-replayed" not in _post(client, "/v1/checks", CHECK).headers
        assert CHECK["snapshot_id"] == SNAPSHOT_ID
