"""Many clients at once: each is answered or turned away in time, and nothing freezes."""

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import httpx
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_PLAN_ID, PLACE_REQUEST
from app.errors.access import ServiceBusy
from app.settings import Settings
from app.slots.admission import LONGEST_DELAY_S, Admission, Caller, Capacity, Pace
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import problem
from tests.jobs.cluster import wait_for
from tests.service import NO_AUTHORITIES

WITHIN_S = 60.0
"""Upper bound on a burst of the tests on a shared machine; a freeze took as long for one request."""
READ, PAGE = f"/v1/plans/{EXAMPLE_PLAN_ID}", f"/plans/{EXAMPLE_PLAN_ID}"
PLAN = next(iter(PLACE_REQUEST.values()))["value"]


def at_once(address: httpx.URL, clients: int) -> list[httpx.Response]:
    """One request of each client, all over connections of their own: reads, plans, pages in turn."""

    async def one(number: int) -> httpx.Response:
        async with httpx.AsyncClient(base_url=address, timeout=WITHIN_S, verify=NO_AUTHORITIES) as client:
            if number % 3 == 0:
                return await client.post("/v1/plans/replicas", json=PLAN)
            return await client.get(READ if number % 3 == 1 else PAGE)

    async def all_of_them() -> list[httpx.Response]:
        async with asyncio.timeout(WITHIN_S):
            return list(await asyncio.gather(*map(one, range(clients))))

    return asyncio.run(all_of_them())


def statuses(responses: list[httpx.Response]) -> Counter[int]:
    return Counter(response.status_code for response in responses)


class TestBurst:
    """Real clients of the real service."""

    @pytest.mark.slow
    @pytest.mark.parametrize("clients", [72, pytest.param(201, marks=pytest.mark.long)])
    def test_clients_at_once_all_get_answers(
        self, client: httpx.Client, database: Database, serve: Serve, clients: int
    ) -> None:
        """55 froze it once: a thread waited for a connection that waited for a thread."""
        assert client.get(READ).is_success
        patient = serve(database, queue_seconds=WITHIN_S)  # a slow machine's expected wait turns nobody away
        assert statuses(at_once(patient.base_url, clients)) == {200: clients // 3 * 2, 201: clients // 3}

    @pytest.mark.slow
    def test_requests_beyond_the_queue_get_a_retry_after(
        self, client: httpx.Client, database: Database, serve: Serve
    ) -> None:
        assert client.get(READ).is_success
        narrow = serve(database, concurrent_requests=2, queued_requests=4)
        responses = at_once(narrow.base_url, 60)
        found = statuses(responses)
        assert set(found) <= {200, 201, 503}
        assert found[200] + found[201] >= 6, "a slot or a place in the queue for each"
        for response in responses:
            if response.status_code == 503:
                assert problem(response, 503, "service_busy")["limit"] == 2
                assert 1 <= int(response.headers["Retry-After"]) <= 60
        assert narrow.get(READ).is_success, "it has recovered"

    def test_a_full_service_turns_away_at_once_and_is_healthy(
        self, client: httpx.Client, database: Database, serve: Serve
    ) -> None:
        """One request waits for a lock in the database, with its slot, its thread and its connection."""
        assert client.get(READ).is_success
        full = serve(database, concurrent_requests=1, queued_requests=0)
        with ThreadPoolExecutor(1) as threads, locked(database, "plans"):
            waiting = threads.submit(full.get, READ)
            wait_for(lambda: full.get("/v1/plans/none").status_code == 503, within_s=20)
            assert [full.get(path).status_code for path in ("/healthz", "/readyz", "/metrics")] == [200] * 3
            assert full.post("/v1/plans/replicas", json=PLAN).status_code == 503
        assert waiting.result(WITHIN_S).is_success
        assert full.get(READ).is_success

    def test_who_waits_too_long_is_turned_away(self, client: httpx.Client, database: Database, serve: Serve) -> None:
        assert client.get(READ).is_success
        full = serve(database, concurrent_requests=1, queued_requests=8, queue_seconds=0.1)
        with ThreadPoolExecutor(9) as threads:
            with locked(database, "plans"):
                sent = [threads.submit(full.get, READ) for _ in range(9)]
                wait_for(lambda: sum(answer.done() for answer in sent) == 8, within_s=20)
            assert sorted(answer.result(WITHIN_S).status_code for answer in sent) == [200, *[503] * 8]


@contextmanager
def locked(database: Database, table: str) -> Iterator[None]:
    """Keep everybody else from reading a table."""
    with database.engine.connect() as connection, connection.begin():
        connection.execute(sa.text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))
        yield


class TestAdmission:
    """Guarantees for every request, whatever others do."""

    @given(
        concurrent=st.integers(1, 4),
        queued=st.integers(0, 4),
        requests=st.lists(st.booleans(), max_size=30),
    )
    def test_no_more_are_served_than_there_are_slots_and_every_slot_is_given_back(
        self, concurrent: int, queued: int, requests: list[bool]
    ) -> None:
        """Whether a request ends well or fails, in any order of arrival."""
        served, most, turned_away = 0, 0, 0

        async def request(admission: Admission, fails: bool) -> None:
            nonlocal served, most, turned_away
            try:
                async with admission.slot():
                    served += 1
                    most = max(most, served)
                    await asyncio.sleep(0)
                    served -= 1
                    if fails:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                pass
            except ServiceBusy:
                turned_away += 1

        async def all_at_once() -> None:
            admission = Admission(Capacity(concurrent, queued, 60.0))
            await asyncio.gather(*(request(admission, fails) for fails in requests))
            admission.check()
            async with asyncio.timeout(1):
                for _ in range(concurrent):
                    await admission.slot().__aenter__()

        asyncio.run(all_at_once())
        assert most <= concurrent
        assert turned_away == max(0, len(requests) - concurrent - queued)

    @given(
        concurrent=st.integers(1, 3),
        queued=st.integers(0, 6),
        requests=st.lists(
            st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.none() | st.integers(0, 5)), max_size=12
        ),
    )
    def test_every_slot_is_given_back_whenever_clients_leave(
        self, concurrent: int, queued: int, requests: list[tuple[str, int, int | None]]
    ) -> None:
        """Also in the step of the event loop in which a slot is passed on: clients stay for some, and may leave."""

        async def request(admission: Admission, key: str, turns: int) -> None:
            with suppress(ServiceBusy):
                async with admission.slot(caller=Caller("", key)):
                    for _ in range(turns):
                        await asyncio.sleep(0)

        async def all_at_once() -> None:
            admission = Admission(Capacity(concurrent, queued, 60.0))
            tasks = [asyncio.create_task(request(admission, key, turns)) for key, turns, _ in requests]
            for now in range(6):
                await asyncio.sleep(0)
                for task, (_, _, leaves) in zip(tasks, requests, strict=True):
                    if leaves == now:
                        task.cancel()
            async with asyncio.timeout(5):
                for ended in await asyncio.gather(*tasks, return_exceptions=True):
                    assert ended is None or isinstance(ended, asyncio.CancelledError)
                for _ in range(concurrent):
                    await admission.slot().__aenter__()

        asyncio.run(all_at_once())

    def test_a_cancelled_waiting_request_leaves_no_trace(self) -> None:
        async def leave() -> None:
            admission = Admission(Capacity(1, 1, 60.0))
            async with admission.slot():
                waiting = asyncio.create_task(admission.slot().__aenter__())
                await asyncio.sleep(0)
                with pytest.raises(ServiceBusy):
                    admission.check()
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                admission.check()
            async with admission.slot():
                pass

        asyncio.run(leave())


class TestPace:
    """Rejections are spread over time once there are many, and no client waits for long."""

    @given(pauses=st.lists(st.floats(0, 0.1) | st.just(0.0) | st.floats(0, 10), min_size=1, max_size=400))
    def test_no_second_has_more_than_its_share(self, pauses: list[float]) -> None:
        now = 0.0
        pace = Pace(lambda: now)
        due = []
        for pause in pauses:
            now += pause
            delay = pace.delay_s()
            assert 0 <= delay <= LONGEST_DELAY_S
            if delay < LONGEST_DELAY_S:
                due.append(now + delay)
        due.sort()
        for first, at in enumerate(due):
            in_a_second = bisect_right(due, at + 1 - 1e-9) - first
            assert in_a_second <= 200 + 50 + 1, "the rate, and a burst before it"

    def test_a_few_rejections_are_not_delayed(self) -> None:
        pace = Pace(lambda: 7.0)
        delays = [pace.delay_s() for _ in range(60)]
        assert delays[:50] == [0.0] * 50
        assert all(delay > 0 for delay in delays[51:])

    def test_a_crowd_waits_for_its_turn(self) -> None:
        """900 at once are answered at 200 a second, and the last of them after as long as any client waits."""
        pace = Pace(lambda: 7.0)
        delays = [pace.delay_s() for _ in range(1_200)]
        assert delays == sorted(delays)
        assert delays[899] == pytest.approx((900 - 51) / 200)
        assert delays[-1] == LONGEST_DELAY_S


class TestConnections:
    """A request holds a connection only while it talks to the database."""

    def test_a_transaction_begins_with_its_first_statement(self, database: Database) -> None:
        with database.begin() as uow:
            assert not uow.is_open
            uow.api_keys.any_unrevoked()
            assert uow.is_open
            uow.release()
            assert not uow.is_open
            uow.api_keys.any_unrevoked()

    def test_what_was_written_is_one_transaction(self, database: Database) -> None:
        """A release in the middle commits nothing."""
        uow = database.unit_of_work()
        uow.api_keys.create("a", ["read"])
        uow.release()
        assert uow.is_open
        uow.rollback()
        with database.begin() as uow:
            assert uow.api_keys.all() == []

    def test_a_claimed_key_is_locked(self, database: Database) -> None:
        with database.begin() as first, database.begin() as second:
            assert first.answers.claim("anyone", "key")
            first.release()
            assert not second.answers.claim("anyone", "key")

    def test_a_pool_that_is_empty_is_a_busy_service(self, database: Database) -> None:
        url = database.url.set(query=dict(database.url.query)).render_as_string(hide_password=False)
        with Database(url, connections=1) as narrow:
            narrow.engine.pool._timeout = 0.05  # type: ignore[attr-defined] # the queue's own; ten seconds otherwise
            with narrow.begin() as first, narrow.begin() as second:
                first.api_keys.any_unrevoked()
                with pytest.raises(ServiceBusy):
                    second.api_keys.any_unrevoked()
                first.release()
                second.api_keys.any_unrevoked()


@pytest.mark.parametrize("concurrent", [1, 16, 1000])
def test_every_slot_has_a_thread_and_a_connection(concurrent: int) -> None:
    settings = Settings(concurrent_requests=concurrent)
    assert min(settings.threads, settings.database_connections) > concurrent
