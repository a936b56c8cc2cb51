"""Slots are shared fairly between teams and keys, whatever one of them sends: laws that a queue by arrival breaks."""

import asyncio
import gzip
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.api.slots.sizes import work_of
from app.errors.access import ServiceBusy
from app.slots.admission import Admission, Caller, Capacity
from tests.api.test_admission import locked
from tests.api.test_slots import PLAN
from tests.databases import Rows
from tests.jobs.cluster import wait_for
from tests.service import client_of, served

OCCUPIED = 'rackplan_occupied_slots{lane="solvers"} 1.0'
LARGE_PLAN = {
    "brokers": [{"id": number, "rack": f"r{number % 3}"} for number in range(6)],
    "topics": [{"name": "t", "partitions": 20_000, "replication_factor": 3}],
}


@pytest.fixture
def one_slot(rows: Rows) -> Iterator[httpx.Client]:
    """A service that plans one request at a time, for which others wait."""
    rows.reset(examples=True)
    changed = {"solver_processes": 1, "reader_processes": 1, "queued_requests": 10, "queue_seconds": 30}
    with served(rows.database, **changed) as address, client_of(address) as client:
        yield client


@dataclass(slots=True)
class Queue:
    """A queue for one slot, and the callers of the requests that began, in their order."""

    admission: Admission
    begun: list[Caller] = field(default_factory=list)
    rejected: list[Caller] = field(default_factory=list)

    async def request(self, caller: Caller) -> None:
        """Wait for the slot, and occupy it until all that is to be sent has been sent."""
        try:
            async with self.admission.slot(caller=caller):
                self.begun.append(caller)
                await asyncio.sleep(0.01)
        except ServiceBusy:
            self.rejected.append(caller)

    async def send(self, callers: Sequence[Caller]) -> None:
        """Send a request of each caller in this order, and wait until all have ended."""
        async with asyncio.TaskGroup() as tasks:
            for caller in callers:
                tasks.create_task(self.request(caller))
                await asyncio.sleep(0)


callers = st.builds(Caller, st.sampled_from("ab"), st.sampled_from("xyz"))


@settings(max_examples=25)
@given(st.lists(callers, min_size=1, max_size=9))
def test_teams_take_turns_and_so_do_the_keys_of_a_team(sent: list[Caller]) -> None:
    """No team begins twice while a request of another one waits that was there before, nor does a key in its team."""
    queue = Queue(Admission(Capacity(1, 100, 60)))
    asyncio.run(queue.send(sent))
    begun = queue.begun
    assert sorted(begun) == sorted(sent)
    for at, (one, other) in enumerate(pairwise(begun[1:]), start=2):
        left = begun[at:]
        if one.team == other.team:
            assert {each.team for each in left} == {one.team}, (sent, begun)
        if one == other:
            assert {each for each in left if each.team == one.team} == {one}, (sent, begun)


def test_a_full_queue_makes_way_for_a_caller_that_has_fewer_in_it() -> None:
    many, few = Caller("a", "x"), Caller("b", "y")
    queue = Queue(Admission(Capacity(1, 3, 60)))
    asyncio.run(queue.send([many, many, many, many, many, few, few, few]))
    assert queue.rejected == [many, many, few, few], "the fifth at once, the fourth for the first of the others"
    assert queue.begun == [many, few, many, many]


def test_a_slot_that_is_passed_on_to_a_request_that_leaves_is_passed_on_again() -> None:
    async def left() -> int:
        admission = Admission(Capacity(1, 3, 60))
        async with admission.slot():
            leaving, staying = (asyncio.create_task(admission.slot().__aenter__()) for _ in range(2))
            await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait_for(staying, 1)
        return admission.occupancy.queued

    assert asyncio.run(left()) == 0


def key(rows: Rows, name: str, team: str) -> dict[str, str]:
    with rows.database.begin() as uow:
        return {"Authorization": f"Bearer {uow.api_keys.create(name, ['plan'], team=team)[1]}"}


def order_of_plans(client: httpx.Client, rows: Rows, callers: dict[str, dict[str, str]]) -> list[str]:
    """Send a request of each caller while the slot is occupied; the names in the order in which they were planned."""
    with ThreadPoolExecutor(len(callers)) as threads:
        sent: dict[str, Future[httpx.Response]] = {}
        with locked(rows.database, "plans"):
            for number, (name, headers) in enumerate(callers.items()):
                body = {**LARGE_PLAN, "seed": number}
                sent[name] = threads.submit(client.post, PLAN, json=body, headers=headers)
                metric = f'rackplan_waiting_requests{{lane="solvers"}} {number}.0' if number else OCCUPIED
                wait_for(partial(_is_shown, client, metric), within_s=20)
        ids = {each.result(30).json()["id"]: name for name, each in sent.items()}
    return [ids[each] for each in sorted(ids)]  # UUIDs of version 7 begin with the moment


def _is_shown(client: httpx.Client, metric: str) -> bool:
    return metric in client.get("/metrics").text


@pytest.mark.slow
@pytest.mark.parametrize("other_team", ["blue", "red"])
def test_a_request_of_another_key_precedes_those_that_one_key_has_queued(
    one_slot: httpx.Client, rows: Rows, other_team: str
) -> None:
    """Four connections of one key took all slots for as long as they sent: 2 of 11 small plans of others succeeded."""
    one, other = key(rows, "one", "red"), key(rows, "other", other_team)
    callers = {"first": one, "second": one, "third": one, "fourth": one, "other": other}
    order = order_of_plans(one_slot, rows, callers)
    assert sorted(order) == sorted(callers)
    assert order.index("other") <= 2


def test_a_compressed_body_counts_by_what_it_has() -> None:
    """145 KB had 3 million lines, which took a slot for 30 s."""
    text = b"no line of a tool\n" * 100_000
    compressed = gzip.compress(text)
    assert len(compressed) < len(text) / 100
    members = gzip.compress(b"") + compressed
    form = b"--x\r\nContent-Disposition: form-data\r\n\r\n" + compressed + b"\r\n--x--\r\n"
    plain, *packed = (work_of("POST", "/v1/snapshots", body) for body in (text, compressed, members))
    assert packed == [plain] * 2
    assert work_of("POST", "/v1/snapshots", form).magnitude == plain.magnitude


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_whatever_looks_compressed_is_measured(before: bytes, after: bytes) -> None:
    body = before + b"\r\n\r\n" + gzip.compress(b"x" * 64_000)[:20] + after
    assert work_of("POST", "/v1/snapshots", body).magnitude >= 0
