"""Requests against servers that are busy, slow or gone: repetitions, their times, and final errors."""

import asyncio
import io
import zipfile
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackplan import AsyncClient, Client, Conflict, Problem, ServerFailed, ServiceUnavailable, TooManyRequests
from rackplan.exchange import pauses_s
from rackplan.flows import Settings
from tests.client.wires import binary, problem, response, wire
from tests.profiles import costly

ALIVE = response(200, {"status": "ok"})
PLACED = response(200, {"placements": []})


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of clients, which are not made."""
    paused: list[float] = []

    async def pause(_client: AsyncClient, seconds: float) -> None:
        paused.append(seconds)

    monkeypatch.setattr(Client, "_pause", lambda _client, seconds: paused.append(seconds))
    monkeypatch.setattr(AsyncClient, "_pause", pause)
    return paused


class TestPauses:
    """`pauses_s`."""

    @given(
        st.integers(0, 20),
        st.floats(0.001, 10),
        st.floats(10, 100),
        st.lists(st.floats(0, 1, exclude_max=True), min_size=20, max_size=20),
    )
    def test_each_is_between_half_and_all_of_a_bound_that_doubles(
        self, retries: int, first_s: float, longest_s: float, draws: list[float]
    ) -> None:
        settings = Settings(retries, first_s, longest_s)
        paused = list(pauses_s(settings, iter(draws).__next__))
        assert len(paused) == retries
        for number, pause_s in enumerate(paused):
            bound_s = min(first_s * 2**number, longest_s)
            assert bound_s / 2 <= pause_s <= bound_s

    def test_they_are_random(self) -> None:
        """So that clients that failed together do not come back together."""
        assert len({next(pauses_s(Settings())) for _ in range(100)}) > 50


class TestRepetition:
    """Repeated requests."""

    @pytest.mark.parametrize(
        "failure",
        [
            None,
            problem(429, "too_many_sweeps"),
            problem(503, "service_busy"),
            response(502, "Bad Gateway"),
            b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhal",
            problem(409, "idempotency_key_in_flight"),
        ],
        ids=["closed", "429", "503", "a proxy's 502", "cut off", "the first is in progress"],
    )
    def test_until_it_succeeds(self, failure: bytes | None, pauses: list[float]) -> None:
        with wire([failure, failure, ALIVE]) as server, Client(server.url) as client:
            assert client.healthz().status == "ok"
        assert len(pauses) == 2

    def test_with_the_same_idempotency_key(self) -> None:
        """Of one call; another call is another request."""
        with wire([None, problem(503, "service_busy"), PLACED, PLACED]) as server, Client(server.url) as client:
            client.place_keys(keys=["a"], partitions=2, partitioner="murmur2")
            client.place_keys(keys=["a"], partitions=2, partitioner="murmur2")
        first, *repeated, other = server.header("idempotency-key")
        assert len(first) == 36
        assert set(repeated) == {first}
        assert other not in (first, "")

    def test_requests_that_change_nothing_need_no_key(self) -> None:
        with wire([ALIVE]) as server, Client(server.url) as client:
            client.healthz()
        assert server.header("idempotency-key") == [""]

    def test_not_what_will_fail_again(self, pauses: list[float]) -> None:
        with (
            wire([problem(409, "idempotency_key_reused")]) as server,
            Client(server.url) as client,
            pytest.raises(Conflict),
        ):
            client.healthz()
        assert pauses == []

    def test_not_for_ever(self, pauses: list[float]) -> None:
        busy = problem(503, "service_busy", "32 requests are being served")
        with (
            wire([busy] * 3) as server,
            Client(server.url, retries=2) as client,
            pytest.raises(ServerFailed, match="32 requests") as raised,
        ):
            client.healthz()
        assert raised.value.code == "service_busy"
        assert len(pauses) == 2

    def test_without_a_listener(self, pauses: list[float]) -> None:
        with wire([]) as server:
            url = server.url
        with Client(url, retries=3) as client, pytest.raises(ServiceUnavailable, match=url):
            client.healthz()
        assert len(pauses) == 3

    def test_asynchronously(self, pauses: list[float]) -> None:
        async def run(url: str) -> None:
            async with AsyncClient(url) as client:
                assert (await client.healthz()).status == "ok"

        with wire([None, problem(503, "service_busy", Retry_After="7"), ALIVE]) as server:
            asyncio.run(run(server.url))
        assert len(pauses) == 2
        assert pauses[1] == 7


class TestRetryAfter:
    """The header of that name."""

    @pytest.mark.parametrize("seconds", [5, 59])
    def test_is_waited_for(self, pauses: list[float], seconds: int) -> None:
        with (
            wire([problem(429, "too_many_sweeps", Retry_After=str(seconds)), ALIVE]) as server,
            Client(server.url) as client,
        ):
            client.healthz()
        assert pauses == [seconds]

    def test_can_be_a_date(self, pauses: list[float]) -> None:
        moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
        with (
            wire([problem(503, "service_stopping", Retry_After=moment), ALIVE]) as server,
            Client(server.url) as client,
        ):
            client.healthz()
        assert 20 <= pauses[0] <= 30

    @pytest.mark.parametrize("header", ["soon", "-1", "Fri, 99 Foo", ""])
    def test_an_unreadable_value_is_ignored(self, pauses: list[float], header: str) -> None:
        with wire([problem(503, "service_busy", Retry_After=header), ALIVE]) as server, Client(server.url) as client:
            client.healthz()
        assert len(pauses) == 1
        assert pauses[0] <= 0.25

    def test_of_hours_is_raised(self, pauses: list[float]) -> None:
        with (
            wire([problem(429, "too_many_sweeps", Retry_After="7200")]) as server,
            Client(server.url) as client,
            pytest.raises(TooManyRequests),
        ):
            client.healthz()
        assert pauses == []


class TestProblems:
    """Raised errors."""

    def test_of_no_problem_document(self) -> None:
        """A proxy answers in HTML."""
        with (
            wire([response(404, "<html>\nnot here")]) as server,
            Client(server.url) as client,
            pytest.raises(Problem, match="HTTP status 404"),
        ):
            client.healthz()

    def test_the_key_and_the_address_are_the_environments(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with wire([ALIVE, ALIVE]) as server:
            monkeypatch.setenv("RACKPLAN_URL", f"{server.url}/behind/a/proxy/")
            monkeypatch.setenv("RACKPLAN_KEY", "secret")
            with Client() as client:
                client.healthz()
            with Client(key="other") as client:
                client.healthz()
        assert server.header("authorization") == ["Bearer secret", "Bearer other"]
        assert server.requests[0].startswith(b"GET /behind/a/proxy/healthz ")
        assert "secret" not in repr(client)

    def test_a_slow_service_is_out_of_reach(self) -> None:
        with (
            wire([None]) as server,
            Client(server.url, timeout=0.05, retries=0) as client,
            pytest.raises(ServiceUnavailable),
        ):
            client.healthz()


class TestAnswers:
    """Answers that the service does not give."""

    def test_of_something_else(self) -> None:
        """A proxy asks for a password, or leads elsewhere; the key is not sent there."""
        page = response(200, "<html>log in</html>", Content_Type="text/html")
        moved = response(302, "", Location="http://127.0.0.1:1/")
        for answer in (page, moved):
            with wire([answer]) as server, Client(server.url) as client, pytest.raises(Problem, match="HTTP status"):
                client.healthz()
            assert len(server.requests) == 1

    def test_a_file_is_written_where_it_was_wanted(self, tmp_path: Path) -> None:
        """No name that an answer has leads out of the directory."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as written:
            written.writestr("../../batch-1.json", "{}")
        named = 'attachment; filename="../../plan.json"'
        answers = [
            *[binary(archive.getvalue(), Content_Type="application/zip")] * 2,
            response(200, {}, Content_Disposition=named),
        ]
        with wire(answers) as server, Client(server.url) as client:
            client.export_plan("1", "batches", tmp_path / "a" / "b.zip")
            client.export_plan("1", "batches", f"{tmp_path}/c/d/")
            client.export_plan("1", "reassignment", f"{tmp_path}/c/d/")
        assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json")) == [
            "c/d/batch-1.json",
            "c/d/plan.json",
        ]


class TestPages:
    """Lists."""

    @costly()
    @given(st.lists(st.lists(st.integers(), max_size=3), min_size=1, max_size=5))
    def test_every_item_of_every_page_in_order(self, pages: list[list[int]]) -> None:
        answers = [
            response(
                200,
                {
                    "items": [{"id": str(item)} for item in items],
                    "next_page_token": None if number == len(pages) else f"page {number}",
                },
            )
            for number, items in enumerate(pages, 1)
        ]
        with wire(answers) as server, Client(server.url) as client:
            listed = [int(snapshot.id) for snapshot in client.list_snapshots(cluster="ä/b")]
        assert listed == [item for items in pages for item in items]
        assert [b"page_token=page+%d" % number in request for number, request in enumerate(server.requests)] == [
            number > 0 for number in range(len(pages))
        ]

    def test_a_page_is_read_once_its_items_are_wanted(self) -> None:
        with (
            wire([response(200, {"items": [{"id": "1"}], "next_page_token": "x"})]) as server,
            Client(server.url) as client,
        ):
            assert next(iter(client.list_snapshots())).id == "1"
        assert len(server.requests) == 1


class TestEvents:
    """Server-sent events."""

    def test_a_broken_stream_is_taken_up_again(self, pauses: list[float]) -> None:
        def event(state: str, finished_at: str | None) -> bytes:
            document = {"id": "1", "kind": "replicas", "state": state, "finished_at": finished_at}
            return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + (
                b"event: progress\ndata: " + response(200, document).partition(b"\r\n\r\n")[2] + b"\n\n: still here\n\n"
            )

        answers = [event("queued", None), None, event("running", None), event("succeeded", "2026-01-01T00:00:00Z")]
        with wire(answers) as server, Client(server.url) as client:
            assert [job.state for job in client.follow_job("1")] == ["queued", "running", "succeeded"]
        assert pauses
