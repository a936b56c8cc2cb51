"""A request is rejected at once if it would wait for too long: laws of the estimate, and a service that is too busy."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.api.slots.sizes import work_of
from app.errors.access import ServiceBusy
from app.slots.admission import Admission, Capacity, Durations, Work, remaining_s, wait_s
from app.store.database import Database
from tests.api.contract import problem
from tests.api.test_admission import PLAN, locked
from tests.service import client_of, served

seconds = st.floats(0, 100).map(lambda value: round(value, 3))
works = st.builds(Work, st.sampled_from("ab"), st.integers(0, 1), st.floats(0.1, 20).map(lambda value: round(value, 1)))
PATH = "/v1/plans/replicas"
BEGINS, ENDS, FAILS, PASSES = "begins", "ends", "fails", "passes"


class TestEstimate:
    """Requests ahead of another, in seconds."""

    @given(st.lists(seconds, min_size=1, max_size=4), st.lists(seconds, max_size=8))
    def test_the_wait_is_that_of_a_queue_in_its_order(self, remaining: list[float], waiting: list[float]) -> None:
        """Compared with a simulation: each one begins in the slot that is free first."""
        free = list(remaining)
        for one in waiting:
            first = free.index(min(free))
            free[first] += one
        assert wait_s(remaining, waiting) == pytest.approx(min(free))

    @given(st.lists(seconds, min_size=1, max_size=4), st.lists(seconds, max_size=8), seconds)
    def test_another_request_ahead_shortens_no_wait(
        self, remaining: list[float], waiting: list[float], one: float
    ) -> None:
        assert wait_s(remaining, [*waiting, one]) >= wait_s(remaining, waiting)
        assert wait_s([*remaining, 0.0], waiting) <= wait_s(remaining, waiting)

    @given(seconds, seconds)
    def test_what_has_outlasted_its_expectation_is_expected_to_last_as_long_again(
        self, expected: float, age: float
    ) -> None:
        assert remaining_s(expected, 0) == expected
        assert remaining_s(expected, age) >= max(expected - age, age)
        if age >= expected:
            assert remaining_s(expected, age) == age

    @given(works, st.lists(seconds, min_size=1, max_size=20))
    def test_a_mean_is_between_the_shortest_and_the_longest_time(self, work: Work, taken: list[float]) -> None:
        durations = Durations()
        assert durations.expected_s(work) == work.prior_s
        for each in taken:
            durations.add(work, each)
        assert min(taken) - 1e-9 <= durations.expected_s(work) <= max(taken) + 1e-9
        other = Work(work.kind + "'", work.magnitude, 1.5)
        assert durations.expected_s(other) == 1.5, "each class has its own"

    @pytest.mark.parametrize(
        ("smaller", "larger"),
        [(b'{"partitions": 10}', b'{"partitions": 100000}'), (b"{}", b"x" * 1_000_000), (b"", b'"partitions":99999')],
    )
    def test_more_partitions_or_bytes_are_expected_to_take_longer(self, smaller: bytes, larger: bytes) -> None:
        one, other = (work_of("POST", "/v1/plans/replicas", body) for body in (smaller, larger))
        assert one.magnitude < other.magnitude
        assert one.prior_s < other.prior_s

    @given(st.binary(max_size=200), st.text(max_size=20))
    def test_there_are_few_classes_whatever_is_sent(self, body: bytes, path: str) -> None:
        work = work_of("POST", path, b'"partitions":999999999,' * 9 + body)
        assert work.kind in ("POST", path)
        assert 0 <= work.magnitude < 16
        assert work.prior_s < 60


@dataclass(slots=True)
class Clock:
    """Seconds, which pass when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class Model:
    """Requests one after another, each of which ends when a test says so."""

    admission: Admission
    running: list[tuple[asyncio.Task[None], asyncio.Future[bool]]] = field(default_factory=list)

    async def begin(self, work: Work) -> bool:
        """Whether the request was admitted, at once: none is rejected later."""
        ends: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._serve(work, ends))
        await asyncio.sleep(0)
        if task.done():
            assert isinstance(task.exception(), ServiceBusy)
            return False
        self.running.append((task, ends))
        return True

    async def end(self, fails: bool) -> None:
        """End the oldest request."""
        if self.running:
            task, ends = self.running.pop(0)
            ends.set_result(fails)
            await asyncio.wait({task})
            assert isinstance(task.exception(), ZeroDivisionError) == fails
            await asyncio.sleep(0)

    async def _serve(self, work: Work, ends: "asyncio.Future[bool]") -> None:
        async with self.admission.slot(work):
            if await ends:
                raise ZeroDivisionError


class TestAdmission:
    """Laws for any order of arrivals, ends and failures."""

    @given(
        st.integers(1, 3),
        st.floats(0.5, 30),
        st.lists(
            st.one_of(
                st.tuples(st.just(BEGINS), works),
                st.tuples(st.sampled_from([ENDS, FAILS]), st.none()),
                st.tuples(st.just(PASSES), seconds),
            ),
            max_size=40,
        ),
    )
    @example(1, 1.0, [(BEGINS, Work("a", 0, 5.0))] * 3)
    def test_no_request_is_admitted_above_the_bound_or_rejected_while_a_slot_is_idle(
        self, concurrent: int, bound: float, steps: Sequence[tuple[str, Work | float | None]]
    ) -> None:
        async def all_of_them() -> None:
            clock = Clock()
            admission = Admission(Capacity(concurrent, 1000, 1e9, bound), clock)
            model = Model(admission)
            for step, given_value in steps:
                occupancy = admission.occupancy
                if isinstance(given_value, Work):
                    is_admitted = await model.begin(given_value)
                    assert is_admitted == (occupancy.occupied < concurrent or occupancy.expected_wait_s <= bound)
                elif isinstance(given_value, float):
                    clock.now += given_value
                else:
                    await model.end(step == FAILS)
                now = admission.occupancy
                assert now.occupied == min(concurrent, len(model.running))
                assert now.queued == max(0, len(model.running) - concurrent)
                assert (now.expected_wait_s > 0) <= (now.occupied == concurrent)
            while model.running:
                await model.end(False)
            assert admission.occupancy.expected_wait_s == 0

        asyncio.run(all_of_them())

    def test_a_rejection_names_the_wait_and_when_to_try_again(self) -> None:
        async def rejected() -> ServiceBusy:
            model = Model(Admission(Capacity(1, 10, 60, 10), Clock()))
            assert await model.begin(Work("a", 0, 8))
            assert await model.begin(Work("a", 1, 4.5))
            with pytest.raises(ServiceBusy) as raised:
                model.admission.check()
            for task, _ in model.running:
                task.cancel()
            return raised.value

        failure = asyncio.run(rejected())
        assert "would wait for some 12.5 s; the limit is 10 s" in failure.detail
        assert failure.context["retry_after_s"] == 13

    def test_of_a_request_that_was_stopped_the_time_counts_if_it_was_long(self) -> None:
        async def expectations() -> list[float]:
            clock = Clock()
            model = Model(Admission(Capacity(1, 0, 60, 10), clock))
            work, found = Work("a", 0, 2.0), []
            for taken, fails in ((1.0, True), (5.0, True), (1.0, False)):
                assert await model.begin(work)
                found.append(model.admission.expected_wait_s)
                clock.now += taken
                await model.end(fails)
            assert await model.begin(work)
            found.append(model.admission.expected_wait_s)
            await model.end(False)
            return found

        assert asyncio.run(expectations()) == [2.0, 2.0, 5.0, pytest.approx(4.2)]


def seeded(seed: int) -> dict[str, object]:
    """A plan that is made in a slot."""
    return {**PLAN, "algorithm": "admin_utils", "seed": seed}


@pytest.mark.slow
def test_a_blocked_service_rejects_at_once(client: httpx.Client, database: Database) -> None:  # noqa: ARG001
    """Its slot waits for a lock: the longer it does, the longer another request is expected to wait."""
    changed = {"solver_processes": 1, "reader_processes": 1, "queue_seconds": 0.5, "queued_requests": 300}
    with served(database, **changed) as address, client_of(address) as narrow, ThreadPoolExecutor(1) as threads:
        assert narrow.post(PATH, json=seeded(1)).is_success
        with locked(database, "plans"):
            waiting = threads.submit(narrow.post, PATH, json=seeded(2))
            time.sleep(1.2)
            for number in range(20):
                response = narrow.post(PATH, json=seeded(10 + number))
                assert not waiting.done(), "it is answered while the slot is blocked"
                found = problem(response, 503, "service_busy")
                assert "the limit is 0.5 s" in found["detail"]
                assert response.headers["Retry-After"] == str(found["retry_after_s"])
                assert found["retry_after_s"] >= 2
        assert waiting.result().status_code == 201
        assert narrow.post(PATH, json=seeded(3)).status_code == 201, "it has recovered"
