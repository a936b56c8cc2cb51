"""Faults at random, and the laws after them."""

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Timer
from typing import Any

import httpx
import orjson
import psutil
import pyarrow as pa
import sqlalchemy as sa

from app.core.capacity.sweep import read_sweep
from app.jobs.kernels.scenarios import KERNEL, payload
from app.store.database import Database
from tests.faults.clients import SCENARIOS, Acknowledged, Client, sweep_body
from tests.faults.service import Service, resume
from tests.faults.worker import LEASE_S

# How often a part is hit. The main process of the service takes seconds to start; faults of others then test nothing.
_WEIGHTS = {"api": 1, "postgres": 3, "backend": 5, "worker": 4, "jvm": 2, "executor": 3, "slot": 6}
_PARTS = 4
# Faults come in bursts. After each of them a plan, a job and a sweep have to end: faults at a steady rate that is
# faster than the worker and Spark start would show only their starts and none of their work.
_BURST = (1, 49)
_RECOVERS_WITHIN_S = 300.0
_GROWTH = 1.5
_GROWTH_BYTES = 300 * 2**20
"""Of the memory of all processes, which begin anew all the time and load their modules."""
_SETTLES_WITHIN_S = 60.0


@dataclass
class Outcome:
    """Counts of a run, and violations after it."""

    faults: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def require(self, holds: bool, what: str) -> None:
        """Note a violation."""
        if not holds:
            self.wrong.append(what)


def run(folder: Path, *, faults: int, seed: int, within_s: float, say: Callable[[str], None] = print) -> Outcome:
    """Inject faults into a new service, for `within_s` at most, and check the final state."""
    outcome, acknowledged, is_over = Outcome(), Acknowledged(), Event()
    service = Service(folder)
    try:
        service.start()
        service.wait_until_ready()
        with ThreadPoolExecutor(6) as threads:
            _until_done(_clients(service, acknowledged, is_over, threads, seed=seed), is_over, lambda: 3)
            before = _memory(service)
            is_over = Event()
            working = _clients(service, acknowledged, is_over, threads, seed=seed + 100)
            try:
                _inject(service, working, acknowledged, outcome, random.Random(seed), faults, within_s, say)
                service.wait_until_ready()
            finally:
                is_over.set()  # else the end of the block waits for clients that go on
            _until_done(working, is_over, lambda: 1)
        service.wait_until_ready()
        _check_answers(service, acknowledged, outcome)
        _check_memory(service, before, outcome)
        _check_connections(service, outcome)
        service.stop()
        _check_remains(service, outcome)
    finally:
        service.kill()
    outcome.counts |= {
        "plans": len(acknowledged.plans),
        "jobs": len(acknowledged.jobs),
        "sweeps": len(acknowledged.sweeps),
        "repeated requests": acknowledged.repeated,
        "starts of the service": service.starts,
    }
    return outcome


def _clients(
    service: Service, acknowledged: Acknowledged, is_over: Event, threads: ThreadPoolExecutor, *, seed: int
) -> list[Future[None]]:
    clients = [Client(service.address, acknowledged, is_over, seed=seed + number) for number in range(3)]
    working = [threads.submit(act) for act in (clients[0].plan, clients[1].job, clients[2].sweep)]
    for client, acting in zip(clients, working, strict=True):
        acting.add_done_callback(client.close)
    return working


def _until_done(working: list[Future[None]], is_over: Event, seconds: Callable[[], float]) -> None:
    """Let clients work for a while, and wait until each has finished its work."""
    is_over.wait(seconds())
    is_over.set()
    for each in working:
        each.result()


def _inject(
    service: Service,
    working: list[Future[None]],
    acknowledged: Acknowledged,
    outcome: Outcome,
    chance: random.Random,
    faults: int,
    within_s: float,
    say: Callable[[str], None],
) -> None:
    """Bursts of faults, each until the service has recovered from it."""
    ends = time.monotonic() + within_s
    longest_s = 0.0
    while outcome.faults.total() < faults and time.monotonic() < ends:
        resumed: list[Timer] = []
        last = min(faults, outcome.faults.total() + chance.randint(*_BURST))
        while outcome.faults.total() < last and time.monotonic() < ends:
            time.sleep(chance.uniform(0.0, 0.6))
            service.start()  # as the system's supervisor does
            _hit(service, outcome, chance, resumed, say)
        for timer in resumed:
            timer.join()
        longest_s = max(longest_s, _recovered_after_s(service, working, acknowledged))
        say(f"{outcome.faults.total()} faults; {acknowledged.ended()} have ended")
    outcome.counts["s at most until a plan, a job and a sweep ended after a burst"] = round(longest_s)


def _hit(
    service: Service, outcome: Outcome, chance: random.Random, resumed: list[Timer], say: Callable[[str], None]
) -> None:
    """Kill or pause one process, unless the service is starting: another fault would only hit the start again."""
    parts = service.parts()
    names = [name for name in _WEIGHTS if name in parts]
    if len(names) < _PARTS:
        return
    part = chance.choices(names, [_WEIGHTS[name] for name in names])[0]
    process = chance.choice(parts[part])
    with suppress(psutil.NoSuchProcess):
        if chance.random() < 0.5:
            process.kill()
            fault = "kill"
        else:
            pause_s = chance.choice([0.2, 1.0, 1.5 * LEASE_S])
            process.suspend()
            resumed.append(Timer(pause_s, resume, [process]))
            resumed[-1].start()
            fault = "pause"
        outcome.faults[f"{fault} {part}"] += 1
        say(f"{outcome.faults.total()} {fault} {part}")


def _recovered_after_s(service: Service, working: list[Future[None]], acknowledged: Acknowledged) -> float:
    """Wait until one more of each kind has ended, and say how long that took."""
    started = time.monotonic()
    before = acknowledged.ended()
    while any(now <= then for now, then in zip(acknowledged.ended().values(), before.values(), strict=True)):
        for each in working:
            if each.done():
                each.result()  # raises its failure
        waited_s = time.monotonic() - started
        assert waited_s < _RECOVERS_WITHIN_S, f"{before} had ended, and after {waited_s:.0f} s {acknowledged.ended()}"
        service.start()
        time.sleep(0.1)
    return time.monotonic() - started


def _check_answers(service: Service, acknowledged: Acknowledged, outcome: Outcome) -> None:
    """Each acknowledged request is there, once, with its content."""
    outcome.wrong += acknowledged.unexpected
    url = service.url()
    assert url is not None
    with Database(url) as database, database.engine.connect() as connection:
        plans = {str(row[0]): row[1] for row in connection.execute(sa.text("SELECT id, hash FROM plans"))}
        for key, plan in acknowledged.plans.items():
            outcome.require(plans.get(plan["id"]) == plan["hash"], f"{key} was acknowledged and is not stored")
        for key, job in acknowledged.jobs.items():
            is_stored = job["state"] == "succeeded" and job["plan"].rpartition("/")[2] in plans
            outcome.require(is_stored, f"{key} ended as {job}")
        of_plans = sa.text("SELECT plans.request->>'seed' FROM jobs JOIN plans ON plans.id = jobs.plan_id")
        seeds = Counter(connection.scalars(of_plans))  # a job that has ended has no request
        _check_once(outcome, "job", acknowledged.jobs, seeds)
        first = sa.text("SELECT CAST(definition#>>'{axes,placement.seed,from}' AS double precision) FROM sweeps")
        starts = Counter(f"{value:.0f}" for value in connection.scalars(first) if value is not None)
        _check_once(outcome, "sweep", acknowledged.sweeps, starts)
        for key, sweep in acknowledged.sweeps.items():
            outcome.require(sweep["state"] == "succeeded", f"{key} ended as {sweep['state']}: {sweep['error']}")
            query = sa.text('SELECT row FROM sweep_rows WHERE sweep_id = :id ORDER BY "index"')
            rows = list(connection.scalars(query, {"id": sweep["id"]}))
            outcome.require(rows == _twin(acknowledged.starts[key]), f"{key} has other rows than its twin")
    some = next(iter(acknowledged.plans.values()))
    answer = httpx.get(f"{service.address}/v1/plans/{some['id']}", timeout=60, verify=False)  # noqa: S501 -- no TLS
    outcome.require(answer.is_success and answer.json()["hash"] == some["hash"], "a stored plan is not answered")


def _check_once(outcome: Outcome, kind: str, acknowledged: dict[str, Any], stored: Counter[str]) -> None:
    for key in acknowledged:
        times = stored[key.partition("-")[2]]
        outcome.require(times == 1, f"{key} is stored {times} times as a {kind}")


def _twin(start: int) -> list[Any]:
    """The rows of an undisturbed run of the same sweep."""
    definition = {name: value for name, value in sweep_body(start).items() if name != "kind"}
    task = pa.record_batch({"start": pa.array([0]), "stop": pa.array([SCENARIOS])})
    batches = KERNEL.run(KERNEL.prepare(payload(read_sweep, definition)), iter([task]))
    rows = {
        index: orjson.loads(row)
        for batch in batches
        for index, row in zip(batch.column("index").to_pylist(), batch.column("row").to_pylist(), strict=True)
    }
    return [rows[index] for index in sorted(rows)]


def _memory(service: Service) -> int:
    total = 0
    for process in service.processes():
        with suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total


def _check_memory(service: Service, before: int, outcome: Outcome) -> None:
    after = _memory(service)
    most = int(_GROWTH * before) + _GROWTH_BYTES
    outcome.counts |= {"MiB before": before >> 20, "MiB after": after >> 20}
    outcome.require(after <= most, f"the processes have {after >> 20} MiB; before the faults {before >> 20} MiB")


def _check_connections(service: Service, outcome: Outcome) -> None:
    """No transaction is left open; only running work has connections."""
    url = service.url()
    assert url is not None
    query = sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%' "
        "AND state_change < now() - interval '5 s'"
    )
    with Database(url, connections=1) as database:
        ends = time.monotonic() + _SETTLES_WITHIN_S
        while True:
            with database.engine.connect() as connection:
                left = connection.scalar(query)
            if not left or time.monotonic() > ends:
                break
            time.sleep(1)
    outcome.require(not left, f"{left} transactions are left open")


def _check_remains(service: Service, outcome: Outcome) -> None:
    ends = time.monotonic() + _SETTLES_WITHIN_S
    while (left := service.processes()) and time.monotonic() < ends:
        time.sleep(0.2)
    for process in left:
        with suppress(psutil.Error):
            outcome.wrong.append(f"a process is left: {process.pid} {' '.join(process.cmdline())[:200]}")
    # Executors' code is shipped once for each version of the code, and stays for the next session.
    shipped = service.temporary / f"rackplan-{os.getuid()}"
    # PySpark's own file of the JVM's port is left if the worker is killed while the JVM starts.
    depth = len(service.temporary.parts) + 2
    files = [
        path
        for path in service.files()
        if not path.is_relative_to(shipped) and not (len(path.parts) == depth and path.parent.name.startswith("tmp"))
    ]
    outcome.wrong += [f"a file is left: {path}" for path in files]
