"""Requests in processes: a computation is stopped at its deadline, bounded in memory, and delays no health check."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from string import printable

import httpx
import orjson
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_PLAN_ID, EXAMPLE_SNAPSHOT_ID, PLACE
from app.api.http.auth import CHECKED_WITHIN_S
from app.api.slots import dispatch, scopes
from app.api.slots.sizes import is_small
from app.store.audit import AuditFilter
from app.store.database import Database
from tests.api.contract import problem
from tests.api.test_admission import locked
from tests.conftest import ROOT
from tests.databases import Rows
from tests.jobs.cluster import wait_for
from tests.service import client_of, served

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
DEADLINE_S, MEMORY_MIB = 5, 128
HEALTHY_S = 10.0
"""A health check takes milliseconds; the machine of the tests may be busy with others."""
PLAN = "/v1/plans/replicas"
READ = f"/v1/plans/{EXAMPLE_PLAN_ID}"


@pytest.fixture(scope="module")
def slotted_address(rows: Rows) -> Iterator[str]:
    """A service with one slot of each lane, whose requests wait half a second at most."""
    changed = {"solver_processes": 1, "reader_processes": 1, "queued_requests": 1, "queue_seconds": 0.5}
    limits = {"deadline_seconds": DEADLINE_S, "slot_memory_mib": MEMORY_MIB}
    with served(rows.database, **changed, **limits) as address:
        yield address


@pytest.fixture
def slotted(slotted_address: str, client: httpx.Client) -> Iterator[httpx.Client]:  # noqa: ARG001 -- rows are reset
    with client_of(slotted_address) as slotted:
        yield slotted


def seeded(seed: int) -> dict[str, object]:
    return {**PLACE, "seed": seed}


class TestHeads:
    """Processes exchange bytes and JSON."""

    @given(
        st.binary(max_size=50), st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=99))), st.text(printable)
    )
    def test_the_head_of_a_request_crosses_whatever_bytes_it_has(
        self, query: bytes, headers: list[tuple[bytes, bytes]], path: str
    ) -> None:
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
            "http_version": "1.1",
            "query_string": query,
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": None,
            "state": {"request_id": "r", "traceparent": None, "caller": None},
        }
        crossed = scopes.read_scope(scopes.written_scope(scope))
        assert {name: crossed[name] for name in scope} == scope


@pytest.mark.slow
class TestSlot:
    """One request in the process of a slot."""

    def test_answers_are_those_of_a_service_without_slots(self, slotted: httpx.Client, client: httpx.Client) -> None:
        one, other = slotted.post(PLAN, json=seeded(901)), client.post(PLAN, json=seeded(901))
        assert (one.status_code, one.content) == (other.status_code, other.content) == (201, one.content)
        path = one.headers["Location"]
        assert slotted.get(path).content == client.get(path).content
        assert (
            slotted.get(path, headers={"Accept": "text/csv"}).text
            == client.get(path, headers={"Accept": "text/csv"}).text
        )
        assert slotted.head(path).headers["etag"] == client.get(path).headers["etag"]

    def test_ids_problems_and_metrics_cross(self, slotted: httpx.Client) -> None:
        response = slotted.post(PLAN, json={**PLACE, "topics": []}, headers={"X-Request-ID": "mine"})
        assert problem(response, 422, "validation")["request_id"] == "mine"
        slotted.post(PLAN, json=seeded(902))
        text = slotted.get("/metrics").text
        assert 'route="/v1/plans/replicas",status="422"' in text
        assert 'rackplan_plans_total{kind="replicas",outcome="ok"}' in text

    @pytest.mark.long
    def test_a_request_beyond_its_deadline_is_stopped_and_health_checks_answer_meanwhile(
        self, slotted: httpx.Client, database: Database
    ) -> None:
        with ThreadPoolExecutor(1) as threads, locked(database, "plans"):
            started = time.monotonic()
            slow = threads.submit(slotted.post, PLAN, json=seeded(903))
            while not slow.done():
                began = time.monotonic()
                assert slotted.get("/healthz").is_success
                assert time.monotonic() - began < HEALTHY_S
            found = problem(slow.result(), 413, "limit_exceeded")
            assert time.monotonic() - started < DEADLINE_S + 10
        assert (found["limit_name"], found["limit"]) == ("deadline_seconds", DEADLINE_S)
        assert "Prefer: respond-async" in found["detail"]
        assert slotted.post(PLAN, json=seeded(903)).status_code == 201, "another process has taken its place"

    def test_a_request_beyond_its_memory_is_stopped_and_the_memory_is_returned(self, slotted: httpx.Client) -> None:
        body = orjson.dumps({"brokers": [{"id": "x"}] * 300_000, "topics": []})
        response = slotted.post(PLAN, content=body, headers={"Content-Type": "application/json"})
        found = problem(response, 413, "limit_exceeded")
        assert (found["limit_name"], found["limit"]) == ("slot_memory_mib", MEMORY_MIB)
        assert slotted.post(PLAN, json=seeded(904)).status_code == 201
        sizes = [child.memory_full_info().uss for child in psutil.Process().children(recursive=True) if is_slot(child)]
        assert sizes
        assert max(sizes) < 2 * MEMORY_MIB * 2**20

    @pytest.mark.long
    def test_requests_beyond_the_queue_get_a_retry_after(self, slotted: httpx.Client, database: Database) -> None:
        with ThreadPoolExecutor(6) as threads, locked(database, "plans"):
            sent = [threads.submit(slotted.post, PLAN, json=seeded(910 + number)) for number in range(6)]
            responses = [each.result() for each in sent]
        turned_away = [response for response in responses if response.status_code == 503]
        assert len(turned_away) == 5, "one occupies the slot until its deadline; one waited as long as it may"
        for response in turned_away:
            assert problem(response, 503, "service_busy")["limit"] == 1
            assert 1 <= int(response.headers["Retry-After"]) <= 2 * DEADLINE_S

    def test_a_client_that_leaves_frees_its_slot(self, slotted: httpx.Client, database: Database) -> None:
        with locked(database, "plans"), pytest.raises(httpx.ReadTimeout):
            slotted.post(PLAN, json=seeded(920), timeout=0.3)
        time.sleep(0.6)
        assert slotted.post(PLAN, json=seeded(921)).status_code == 201
        left, made = reversed(slotted.get("/v1/audit").json()["items"][:2])
        assert (left["actor"], left["action"], left["resource"], left["status"]) == ("anyone", "POST", PLAN, None)
        assert (made["action"], made["status"]) == (f"POST {PLAN}", 201)

    def test_a_process_whose_end_is_not_reported_is_a_503(self, slotted: httpx.Client, database: Database) -> None:
        """Only the server that has forked it knows how it ended; that may be stopped, or slow."""
        with ThreadPoolExecutor(1) as threads, locked(database, "plans"):
            sent = threads.submit(slotted.post, PLAN, json=seeded(940))
            wait_for(lambda: 'rackplan_occupied_slots{lane="solvers"} 1.0' in slotted.get("/metrics").text, within_s=20)
            (server,) = [child for child in psutil.Process().children() if is_slot(child) and child.children()]
            slots = server.children()
            server.suspend()
            try:
                for slot in slots:
                    slot.kill()
                lost = sent.result(20)
            finally:
                server.resume()
        problem(lost, 503, "process_lost")
        assert int(lost.headers["Retry-After"]) > 0
        assert slotted.post(PLAN, json=seeded(941)).status_code == 201

    def test_a_process_that_is_killed_is_a_503(self, slotted: httpx.Client, database: Database) -> None:
        """It was answered 413, as if the request needed more memory than its limit."""
        with ThreadPoolExecutor(1) as threads, locked(database, "plans"):
            sent = threads.submit(slotted.post, PLAN, json=seeded(942))
            wait_for(lambda: 'rackplan_occupied_slots{lane="solvers"} 1.0' in slotted.get("/metrics").text, within_s=20)
            for child in psutil.Process().children(recursive=True):
                if is_slot(child) and not child.children():
                    child.kill()
            lost = sent.result(20)
        found = problem(lost, 503, "process_lost")
        assert "was killed (SIGKILL)" in found["detail"]
        assert int(lost.headers["Retry-After"]) > 0
        assert slotted.post(PLAN, json=seeded(942)).status_code == 201

    def test_a_slot_reports_the_caller_of_a_request(self, slotted: httpx.Client, database: Database) -> None:
        with database.begin() as uow:
            ops = uow.api_keys.create("ops", ["admin"], team="*")[1]
            low = uow.api_keys.create("low", ["read"], team="blue")[1]
        headers = {"Authorization": f"Bearer {ops}", "Rackplan-Team": "blue"}
        body = {"brokers": [{"id": 1}], "topics": [{"name": "t", "partitions": 1, "replication_factor": 1}]}
        made = slotted.post(PLAN, json=body, headers=headers)
        assert slotted.get("/v1/webhooks", headers={"Authorization": f"Bearer {low}"}).status_code == 403
        denied, planned = slotted.get("/v1/audit?actor=key", headers=headers).json()["items"]
        assert (planned["name"], planned["team"], planned["address"]) == ("ops", "blue", "127.0.0.1")
        assert (planned["action"], planned["resource"]) == (f"POST {PLAN}", made.headers["Location"])
        assert (denied["name"], denied["action"], denied["code"]) == ("low", "GET /v1/webhooks", "forbidden")
        assert slotted.get("/readyz").json()["checks"]["slots"].endswith(" of 2 processes")

    def test_a_large_request_does_not_wait_for_its_job(self, slotted: httpx.Client) -> None:
        headers = {"Prefer": "respond-async, wait=1"}
        large = {**seeded(922), "labels": {f"label-{number}": "x" * 60 for number in range(30)}}
        large["topics"] = [{"name": f"t{number}", "partitions": 1, "replication_factor": 1} for number in range(500)]
        response = slotted.post(PLAN, json=large, headers=headers)
        assert (response.status_code, response.headers["Preference-Applied"]) == (202, "respond-async")
        slotted.delete(response.headers["Location"])


@pytest.mark.slow
class TestLockedKeys:
    """Nothing that needs a key waits for longer than seconds for the table of the keys."""

    def test_a_request_that_cannot_check_its_key_is_answered_503(
        self, slotted: httpx.Client, client: httpx.Client, database: Database
    ) -> None:
        """Before the body in both services; the read is checked by the operation, in a slot and in a thread."""
        with ThreadPoolExecutor(4) as threads, locked(database, "api_keys"):
            sent = [threads.submit(each.post, PLAN, json=seeded(930)) for each in (slotted, client)]
            sent += [threads.submit(each.get, "/v1/plans") for each in (slotted, client)]
            assert slotted.get("/healthz").is_success
            for each in sent:
                response = each.result()
                problem(response, 503, "unavailable")
                assert response.headers["Retry-After"].isdigit()
        assert slotted.post(PLAN, json=seeded(930)).status_code == 201
        assert client.get("/v1/plans").is_success

    def test_a_request_that_has_its_key_waits_until_its_deadline(
        self, slotted: httpx.Client, database: Database
    ) -> None:
        with ThreadPoolExecutor(1) as threads:
            with locked(database, "plans"):
                waiting = threads.submit(slotted.get, "/v1/plans")
                with pytest.raises(TimeoutError):
                    waiting.result(CHECKED_WITHIN_S + 0.5)
            assert waiting.result().is_success


@pytest.mark.slow
class TestSmallPlans:
    """Plans that take no slot, beside a service without slots."""

    SMALL: Mapping[str, object] = {
        "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}],
        "seed": 1,
        "labels": {"owner": "x", "b": "y"},
        "topics": [{"name": "t", "partitions": 3, "replication_factor": 2}],
    }

    def test_an_answer_is_that_of_the_operation(
        self, slotted: httpx.Client, client: httpx.Client, database: Database
    ) -> None:
        ours = slotted.post(PLAN, json=self.SMALL, headers={"X-Request-ID": "same"})
        assert ours.status_code == 201
        path = ours.headers["Location"]
        assert slotted.get(path).content == ours.content
        again = slotted.post(PLAN, json=self.SMALL, headers={"X-Request-ID": "same"})
        theirs = client.post(PLAN, json=self.SMALL, headers={"X-Request-ID": "same"})
        assert again.content == theirs.content == ours.content
        assert {**ours.headers, "date": ""} == {**again.headers, "date": ""} == {**theirs.headers, "date": ""}
        with database.begin() as uow:
            entries = uow.audit.page(AuditFilter(resource=path), before=None, size=10).items
        assert [(each.actor, each.action, each.status) for each in entries] == [("anyone", f"POST {PLAN}", 201)] * 3

    @pytest.mark.parametrize(
        "changed",
        [
            {"topics": []},
            {"topics": [{"name": "t", "partitions": 0, "replication_factor": 1}]},
            {"topics": [{"name": "t", "partitions": 1, "replication_factor": 3}]},
            {"topics": [{"name": "t", "partitions": 1, "replication_factor": 1}] * 2},
            {"brokers": [{"id": 1}, {"id": 1}]},
            {"brokers": [{"id": "x"}]},
            {"seed": 1.5},
            {"labels": {"": ""}},
            {"labels": {"a": "\x00"}},
            {"rack_mode": "enforced", "brokers": [{"id": 1}, {"id": 2, "rack": "b"}]},
        ],
    )
    def test_a_problem_is_that_of_the_operation(
        self, slotted: httpx.Client, client: httpx.Client, changed: dict[str, object]
    ) -> None:
        body = {**self.SMALL, **changed}
        ours, theirs = (each.post(PLAN, json=body, headers={"X-Request-ID": "same"}) for each in (slotted, client))
        assert (ours.status_code, ours.content) == (theirs.status_code, theirs.content)

    @pytest.mark.parametrize("body", [b"", b"{", b"[" * 8000, b"\xff", b'{"seed": NaN}'])
    def test_a_body_that_is_no_json_is_the_operations(
        self, slotted: httpx.Client, client: httpx.Client, body: bytes
    ) -> None:
        headers = {"Content-Type": "application/json", "X-Request-ID": "same"}
        ours, theirs = (each.post(PLAN, content=body, headers=headers) for each in (slotted, client))
        assert (ours.status_code, ours.content) == (theirs.status_code, theirs.content)
        assert ours.status_code < 500

    def test_no_slot_is_taken(self, slotted: httpx.Client, database: Database) -> None:
        """The slot waits for a lock, and a small plan is made meanwhile."""
        with ThreadPoolExecutor(1) as threads:
            with locked(database, "answers"):
                waiting = threads.submit(slotted.post, PLAN, json=seeded(931), headers={"Idempotency-Key": "waits"})
                assert slotted.post(PLAN, json={**self.SMALL, "seed": 2}).status_code == 201
                assert not waiting.done()
            assert waiting.result().status_code == 201


@pytest.mark.slow
def test_a_key_that_is_revoked_reads_nothing_more(slotted: httpx.Client, database: Database) -> None:
    with database.begin() as uow:
        _, secret = uow.api_keys.create("reads", ["read"], team="default")
    key = {"Authorization": f"Bearer {secret}"}
    assert [slotted.get(READ, headers=key).status_code for _ in range(3)] == [200] * 3
    assert slotted.get(READ).status_code == 401
    with database.begin() as uow:
        uow.api_keys.revoke("reads", team="default")
        uow.api_keys.create("another", ["read"], team="default")
    assert slotted.get(READ, headers=key).status_code == 401


class TestSmall:
    """Requests of little work are known by their bodies."""

    BODY: Mapping[str, object] = {
        "brokers": [{"id": broker, "rack": f"r{broker % 3}"} for broker in range(6)],
        "algorithm": "striped",
        "seed": 7,
        "topics": [{"name": "orders", "partitions": 5, "replication_factor": 3}],
    }

    @given(anything, st.sampled_from(sorted(BODY)))
    def test_any_document_is_looked_at(self, value: object, field: str) -> None:
        assert not is_small("POST", PLAN, orjson.dumps(value))
        is_small("POST", PLAN, orjson.dumps({**self.BODY, field: value}))

    def test_only_what_states_little_work_is_small(self) -> None:
        assert is_small("POST", PLAN, orjson.dumps(self.BODY))
        assert not is_small("POST", "/v1/plans/group", orjson.dumps(self.BODY))
        assert not is_small("POST", PLAN, orjson.dumps({**self.BODY, "labels": {"a": "x" * 8192}}))

    @pytest.mark.parametrize(
        "changed",
        [
            {"seed": None},
            {"algorithm": "admin_utils"},
            {"snapshot_id": "0191d0e4-0000-7000-8000-000000000000"},
            {"kafka_version": "4.0"},
            {"brokers": [{"id": broker} for broker in range(65)]},
            {"topics": [{"name": "t", "partitions": 121, "replication_factor": 1}]},
            {"topics": [{"name": "t", "partitions": 1e6, "replication_factor": 1}]},
            {"topics": [{"name": f"t{n}", "partitions": 1, "replication_factor": 1} for n in range(11)]},
        ],
    )
    def test_what_is_not_small_takes_a_slot(self, changed: dict[str, object]) -> None:
        assert not is_small("POST", PLAN, orjson.dumps({**self.BODY, **changed}))


@pytest.mark.long
@pytest.mark.slow
def test_a_small_plan_that_waits_for_a_lock_is_a_503_at_its_deadline(slotted: httpx.Client, database: Database) -> None:
    """No process is there to be stopped: Postgres ends the statement."""
    with locked(database, "plans"):
        response = slotted.post(PLAN, json={**TestSmallPlans.SMALL, "seed": 3})
    assert "took longer than its limit" in problem(response, 503, "unavailable")["detail"]
    assert slotted.post(PLAN, json={**TestSmallPlans.SMALL, "seed": 3}).status_code == 201


def is_slot(process: psutil.Process) -> bool:
    return "forkserver" in " ".join(process.cmdline())


@pytest.mark.slow
def test_a_body_without_a_key_is_not_read(client: httpx.Client, database: Database) -> None:
    """It is rejected while it is still to come."""
    with database.begin() as uow:
        uow.api_keys.create("only", ["read"])
    head = (
        f"POST {PLAN} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n"
    )
    with closing(socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=5)) as connection:
        connection.sendall(head.encode() + b"[" * 1000)
        assert connection.recv(4096).startswith(b"HTTP/1.1 401 ")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
def test_the_service_is_not_tied_to_what_started_it() -> None:
    """Only the processes of slots are: a service under `nohup` outlives the shell."""
    code = (
        "import app.main, app.worker, ctypes; signal = ctypes.c_int(-1);"
        "ctypes.CDLL(None).prctl(2, ctypes.byref(signal)); print(signal.value)"  # PR_GET_PDEATHSIG
    )
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "0"


@pytest.mark.slow
class TestSlowReaders:
    """Clients that request more than they read."""

    @pytest.mark.long
    def test_what_waited_longest_for_its_client_is_dropped(
        self,
        rows: Rows,
        client: httpx.Client,  # noqa: ARG002 -- rows are reset
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Each response would stay in memory for as long as its client likes, or new requests would be rejected."""
        csv = {"Accept": "text/csv", "Accept-Encoding": "identity"}
        big = {**PLACE, "seed": 1, "topics": [{"name": "t", "partitions": 400_000, "replication_factor": 3}]}
        with served(rows.database, solver_processes=1, reader_processes=1) as address, client_of(address) as slotted:
            path = slotted.post(PLAN, json=big).headers["Location"]
            whole = len(slotted.get(path, headers=csv).content)
            monkeypatch.setattr(dispatch, "MOST_BYTES", 5 * whole // 4)
            head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\nConnection: close\r\n\r\n"
            with ExitStack() as opened:
                readers = []
                for _ in range(3):
                    reader = opened.enter_context(closing(socket.socket()))
                    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    reader.connect((slotted.base_url.host, slotted.base_url.port))
                    reader.settimeout(20)
                    reader.sendall(head.encode())
                    reader.recv(1)  # its slot has answered, or begins to
                    readers.append(reader)
                assert slotted.get("/v1/plans").status_code == 200
                taken = [_taken(reader) for reader in readers]
            assert taken[0] < whole <= taken[-1]


def _taken(reader: socket.socket) -> int:
    """Bytes that are left to read."""
    taken = 0
    with suppress(ConnectionResetError):
        while received := reader.recv(2**20):
            taken += len(received)
    return taken


class TestPreferences:
    """A wait for a job is served by the process that listens; a computation is not, whatever it prefers."""

    @pytest.mark.long
    def test_a_preference_to_wait_takes_no_plan_out_of_its_slot(
        self, slotted: httpx.Client, database: Database
    ) -> None:
        """Regression: the computation had neither a deadline nor a limit on memory, and delayed health checks."""
        with ThreadPoolExecutor(1) as threads, locked(database, "plans"):
            waiting = threads.submit(slotted.post, PLAN, json=seeded(906), headers={"Prefer": "wait=1"})
            found = problem(waiting.result(), 413, "limit_exceeded")
        assert found["limit_name"] == "deadline_seconds"

    @pytest.mark.long
    def test_only_operations_that_can_be_jobs_advise_one(self, slotted: httpx.Client, database: Database) -> None:
        """`/progress` is below `/v1/plans/` and has no asynchronous way."""
        with locked(database, "plans"):
            response = slotted.post(f"{READ}/progress", json={"snapshot_id": str(EXAMPLE_SNAPSHOT_ID)})
        found = problem(response, 413, "limit_exceeded")
        assert found["limit_name"] == "deadline_seconds"
        assert "Prefer" not in found["detail"]
