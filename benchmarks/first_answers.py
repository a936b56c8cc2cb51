"""A fresh installation, as its first user meets it: install, compile, start, first and second answers, stop.

The repository is cloned into a temporary folder and installed with the README's command, which takes minutes and needs
a package index. Nothing is warmed up: a first answer is the first of a service that has just started, while it still
loads its loops.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from app.api.examples import (
    EXAMPLE_DELIVERY_ID,
    EXAMPLE_JOB_ID,
    EXAMPLE_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_SNAPSHOT_ID,
    EXAMPLE_SWEEP_ID,
    EXAMPLE_WEBHOOK_ID,
)
from app.jobs.processes import runs
from benchmarks.family import SLOTS, Memory, commands, memory, memory_results
from benchmarks.measure import Line, Result, Times

ROOT = Path(__file__).parents[1]
_INSTALLED_WITHIN_S = 1800.0
_ANSWERED_WITHIN_S = 300.0
_STOPS_WITHIN_S = 60.0
_STOP_TARGET_MS = 2000.0
_START_TARGET_MS = 1500.0
_COMMAND_TARGETS_MS = {
    "rackplan --help": 200.0,
    "rackplan plan replicas --help": 400.0,
    "rackplan plan replicas": 800.0,
    "rackplan plan reassignment": 1500.0,
    "import app.main": 1500.0,
}
_RELEASED_WITHIN_S = 5.0
_SETTLED_S = 1.0
_STARTS = 7
_FIRST_JOB_S = 5.0
_SLOWER_FIRST_MS = 1000.0
"""How much longer than the second answer the first one may take."""
_LISTENS = re.compile(r"Rackplan listens on (\S+)")
_SNAPSHOT = {"snapshot_id": str(EXAMPLE_SNAPSHOT_ID)}
_ADDED = [{"id": 107, "rack": "use1-az1"}, {"id": 108, "rack": "use1-az2"}]
_TIGHT = {"replicas": "tight", "leaders": "tight"}
REASSIGNMENTS: Mapping[str, Mapping[str, Any]] = {
    "remove": {"remove_brokers": [106]},
    "add": {"add_brokers": _ADDED},
    "replace": {"replace_brokers": {"103": 111}},
    "replication factor": {"replication_factor": {"orders": 4}},
    "partitions": {"partitions": {"orders": 48}},
    "by count": {"add_brokers": _ADDED, "balance": _TIGHT},
    "by bytes": {"add_brokers": _ADDED, "balance": {**_TIGHT, "replicas_by": "bytes"}},
    "by throughput": {
        "add_brokers": _ADDED,
        "balance": {**_TIGHT, "replicas_by": "throughput", "leaders_by": "ingress"},
        "ingress_bytes_per_s": {"orders": 1e6},
    },
    "leaders only": {"leaders_only": True},
    "evacuate leaders": {"leaders_only": True, "evacuate_leaders": {"racks": ["use1-az1"]}},
    "within a budget": {"add_brokers": _ADDED, "max_moved_bytes": 10**9, "unknown_sizes": "estimate"},
    "trade-off": {"add_brokers": _ADDED, "balance": _TIGHT, "trade_off": True},
    "batches": {
        "remove_brokers": [106],
        "batches": {"max_moves_in_per_broker": 1, "throttle_bytes_per_s": 2**20, "hottest": "first"},
    },
    "relax": {"remove_brokers": [105, 106], "on_conflict": "relax"},
    "fewest replicas": {"remove_brokers": [106], "minimise": "replicas"},
}


def run() -> Iterator[Line]:
    """Every figure of the README's section on speed."""
    with tempfile.TemporaryDirectory(prefix="rackplan-first-answers-") as folder:
        Path(folder).chmod(0o755)  # the account that runs Postgres has to reach it
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)  # noqa: S607
        keys = Path(folder) / "keys.txt"
        keys.write_text("".join(f"{number % 977}\n" for number in range(10_000)))
        installation = Installation(clone, Path(folder) / "data")
        yield from installation.install()
        for option, body in REASSIGNMENTS.items():
            yield from installation.first_of("plan_reassignment", option, {**_SNAPSHOT, **body})
        yield from installation.starts()
        yield from installation.operations()
        yield from installation.sweeps(keys)
        yield from installation.commands()


class Installation:
    """An installed clone, whose service can be started any number of times."""

    def __init__(self, clone: Path, data: Path) -> None:
        self._clone = clone
        # Nor what makes this Python another one than a user's: PYTHONPATH, or modules whose bytecode is not stored.
        others = ("RACKPLAN_", "PYTHON")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        self._environment = {
            **inherited,
            "RACKPLAN_PORT": "0",
            "RACKPLAN_DATA_DIR": str(data),
            "RACKPLAN_DATASET_ROOTS": str(data.parent),
            "RACKPLAN_MAX_ACTIVE_SWEEPS": "100",
        }

    def install(self) -> Iterator[Result]:
        """`make run`, its steps, and a Ctrl-C."""
        started = time.perf_counter()
        began_to_compile: float | None = None
        # The examples that the operations name are stored here once; later starts have the default.
        with self._process(["make", "run"], RACKPLAN_EXAMPLES="true") as service:
            assert service.stdout is not None
            for line in service.stdout:
                if line.startswith("compiling "):
                    began_to_compile = time.perf_counter()
                    yield _once("install", {}, (began_to_compile - started) * 1000)
                if " loops compiled in " in line and began_to_compile is not None:
                    yield _once("compile", {}, (time.perf_counter() - began_to_compile) * 1000)
                if (listens := _LISTENS.match(line)) is not None:
                    yield _once("make run, to ready", {}, (time.perf_counter() - started) * 1000)
                    break
            else:
                raise RuntimeError("make run did not start a service")
            with httpx.Client(base_url=listens[1]) as client:
                _wait_for_examples(client)
                yield _once("make run, to prepared", {}, (time.perf_counter() - started) * 1000)
            yield _stopped(service, "its first start")

    def first_of(self, operation: str, option: str, body: object) -> Iterator[Result]:
        """The first request of a service that has just started, and the second; then how long the stop takes."""
        with self._serving() as (service, client, started_ms):
            facts = {"load": round(os.getloadavg()[0], 1)}
            yield _once("start, to first answer", {"before": option}, started_ms, target_ms=_START_TARGET_MS, **facts)
            paths = {"plan_reassignment": "/v1/plans/reassignment"}
            yield _twice(operation, option, client, "POST", paths[operation], json=body)
            yield _stopped(service, option)

    def starts(self) -> Iterator[Result]:
        """A start, as all but the first of an installation are: to the first answer, and the stop that follows."""
        started, stopped = [], []
        for _ in range(_STARTS):
            with self._serving() as (service, _, ms):
                started.append(ms)
                stopped.append(_stop(service))
        facts = {"load": round(os.getloadavg()[0], 1)}
        for name, taken, target_ms in (
            ("start, to first answer", started, _START_TARGET_MS),
            ("stop", stopped, _STOP_TARGET_MS),
        ):
            times = Times(tuple(taken), ())
            yield Result(name, {"starts": _STARTS}, times, is_in_process=False, target_ms=target_ms, facts=facts)

    def operations(self) -> Iterator[Line]:
        """Every operation of the OpenAPI document with each of its examples, and the pages."""
        with self._serving() as (service, client, _):
            _wait_for_examples(client)
            _wait_for_slots(service)
            yield from memory_results(service.pid, after="start")
            document = client.get("/openapi.json").json()
            for path, methods in document["paths"].items():
                for method, operation in methods.items():
                    if method not in ("get", "post") or path.endswith("/events") or "{sweep_id}/clones" in path:
                        continue
                    yield from _answers(client, method.upper(), path, operation)
            for page in ("/", "/docs", "/openapi.json", f"/plans/{EXAMPLE_PLAN_ID}"):
                yield _twice("page", page, client, "GET", page)
            yield from memory_results(service.pid, after="two plans of each kind")
            large = {
                "brokers": [{"id": broker, "rack": f"rack-{broker % 5}"} for broker in range(100)],
                "topics": [{"name": f"topic-{number}", "partitions": 10_000, "replication_factor": 3}
                           for number in range(100)],
                "seed": 1,
            }  # fmt: skip
            yield _twice("plan_replicas", "1,000,000 partitions", client, "POST", "/v1/plans/replicas", json=large)
            time.sleep(_RELEASED_WITHIN_S)
            yield from memory_results(service.pid, after="two plans of 1,000,000 partitions, answered and released")
            yield _stopped(service, "plans of every kind")

    def sweeps(self, keys: Path) -> Iterator[Line]:
        """Each kind of sweep, from the request to the last row, once Spark is started; and one that starts it."""
        with self._serving() as (service, client, _):
            _wait_for_examples(client)
            content = client.get("/openapi.json").json()["paths"]["/v1/sweeps"]["post"]["requestBody"]["content"]
            examples = content["application/json"]["examples"]
            bodies = {name: example["value"] for name, example in examples.items()}
            first = next(iter(bodies.values()))
            yield _once("sweep", {"example": "of a service that has just started"}, _swept(client, first))
            yield _stopped(service, "a sweep")
        with self._serving() as (service, client, started_ms):
            started = time.perf_counter() - started_ms / 1000
            _wait_for_spark(service)
            yield _once("start, to Spark started", {}, (time.perf_counter() - started) * 1000)
            yield from memory_results(service.pid, after="start of Spark")
            bodies["key_skew"] = {
                "kind": "key_skew",
                "dataset": {"path": str(keys), "format": "lines"},
                "partitions": 12,
                "partitioners": ["murmur2_adaptive"],
            }
            for name, body in bodies.items():
                first_ms, second_ms = _swept(client, body), _swept(client, body)
                yield _once("sweep", {"example": name}, first_ms, second_ms=round(second_ms, 1))
            yield _stopped(service, "sweeps")

    def commands(self) -> Iterator[Result]:
        """The command and the imports, as whole processes."""
        command, python = str(self._clone / ".venv/bin/rackplan"), str(self._clone / ".venv/bin/python")
        samples = self._clone / "tests" / "samples"
        brokers = ["--brokers", str(samples / "kafka-broker-api-versions.txt")]
        topics = ["--topics", str(samples / "kafka-topics-describe.txt")]
        for name, arguments in {
            "rackplan --help": [command, "--help"],
            "rackplan plan replicas --help": [command, "plan", "replicas", "--help"],
            "rackplan plan replicas": [command, "plan", "replicas", *brokers, "--topic", "orders:48:3", "--seed", "7"],
            "rackplan plan reassignment": [
                command,
                "plan",
                "reassignment",
                *topics,
                *brokers,
                "--remove-broker",
                "101",
            ],
            "import app.main": [python, "-c", "import app.main"],
        }.items():
            taken = []
            for _ in range(5):
                started = time.perf_counter()
                subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=self._environment)
                taken.append((time.perf_counter() - started) * 1000)
            times, target_ms = Times(tuple(taken), ()), _COMMAND_TARGETS_MS[name]
            yield Result("command", {"command": name}, times, is_in_process=False, target_ms=target_ms)

    @contextmanager
    def _process(self, command: list[str], **settings: str) -> Iterator[subprocess.Popen[str]]:
        """A process with a group of its own, as a terminal's foreground job has, killed if it does not end."""
        process = subprocess.Popen(
            command, cwd=self._clone, env=self._environment | settings,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
                process.wait(60)

    @contextmanager
    def _serving(self) -> Iterator[tuple[subprocess.Popen[str], httpx.Client, float]]:
        """A service, a client, and the milliseconds from the start to the first answer."""
        command = [str(self._clone / ".venv/bin/rackplan"), "serve"]
        # The client first: it loads the certificates of the system.
        with httpx.Client(timeout=_ANSWERED_WITHIN_S) as client:
            started = time.perf_counter()
            with self._process(command) as service:
                assert service.stdout is not None
                listens = _LISTENS.match(service.stdout.readline())
                assert listens is not None, "the service did not start"
                client.base_url = httpx.URL(listens[1])
                client.get("/v1/plans").raise_for_status()
                yield service, client, (time.perf_counter() - started) * 1000


def _once(
    name: str, parameters: Mapping[str, str], ms: float, *, target_ms: float | None = None, **facts: float
) -> Result:
    return Result(name, dict(parameters), Times((ms,), ()), is_in_process=False, target_ms=target_ms, facts=facts)


def _stopped(service: subprocess.Popen[str], after: str) -> Result:
    """A stop, and how long it takes."""
    return _once("stop", {"after": after}, _stop(service), target_ms=_STOP_TARGET_MS)


def _twice(operation: str, option: str, client: httpx.Client, method: str, path: str, **content: Any) -> Result:
    """The same request twice; the target is that the first takes at most a second more."""
    taken, status = [], 0
    for _ in range(2):
        started = time.perf_counter()
        status = client.request(method, path, **content).status_code
        taken.append((time.perf_counter() - started) * 1000)
    return Result(
        "first answer", {"operation": operation, "option": option}, Times((taken[0],), ()), is_in_process=False,
        target_ms=taken[1] + _SLOWER_FIRST_MS, facts={"second_ms": round(taken[1], 1), "status": status},
    )  # fmt: skip


def _answers(client: httpx.Client, method: str, path: str, operation: Mapping[str, Any]) -> Iterator[Result]:
    """An operation with each of its JSON examples, over the examples that the service has stored."""
    plan = EXAMPLE_REASSIGNMENT_PLAN_ID if path.endswith("export") else EXAMPLE_PLAN_ID
    known = {"plan_id": plan, "snapshot_id": EXAMPLE_SNAPSHOT_ID, "sweep_id": EXAMPLE_SWEEP_ID,
             "job_id": EXAMPLE_JOB_ID, "webhook_id": EXAMPLE_WEBHOOK_ID, "delivery_id": EXAMPLE_DELIVERY_ID,
             "index": "0"}  # fmt: skip
    address = re.sub(r"{(\w+)}", lambda name: str(known[name[1]]), path)
    if path.endswith("comparison"):
        address += f"?against={EXAMPLE_SWEEP_ID}"
    examples = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("examples")
    for option, example in (examples or {"": None}).items():
        content = {} if example is None else {"json": example["value"]}
        yield _twice(operation["operationId"], option, client, method, address, **content)


def _swept(client: httpx.Client, body: object) -> float:
    """Milliseconds from the request of a sweep to its end."""
    started = time.perf_counter()
    accepted = client.post("/v1/sweeps", json=body)
    accepted.raise_for_status()
    address = accepted.headers["Location"]
    while client.get(address).json()["finished_at"] is None:
        time.sleep(0.05)
    return (time.perf_counter() - started) * 1000


def _wait_for_examples(client: httpx.Client) -> None:
    while not client.get(f"/v1/sweeps/{EXAMPLE_SWEEP_ID}").is_success:
        time.sleep(0.1)


def _wait_for_spark(service: subprocess.Popen[str]) -> None:
    """Wait until an idle worker has started Spark: Python for its tasks is the last of it, with a first job."""
    while not any("pyspark.daemon" in command for _, command in commands(service.pid)):
        time.sleep(0.1)
    time.sleep(_FIRST_JOB_S)


def _wait_for_slots(service: subprocess.Popen[str]) -> None:
    """Wait until all slots of the API run: their number has not changed for a second."""
    count, since = 0, time.perf_counter()
    while count <= 1 or time.perf_counter() - since < _SETTLED_S:
        now = memory(service.pid).get(SLOTS, Memory()).processes
        if now != count:
            count, since = now, time.perf_counter()
        time.sleep(0.1)


def _stop(service: subprocess.Popen[str]) -> float:
    """Milliseconds from a Ctrl-C to the end of every process."""
    family = [psutil.Process(service.pid), *psutil.Process(service.pid).children(recursive=True)]
    started = time.perf_counter()
    os.killpg(service.pid, signal.SIGINT)
    service.wait(_STOPS_WITHIN_S)
    while left := [process for process in family if runs(process)]:
        assert time.perf_counter() - started < _STOPS_WITHIN_S, f"{left} outlived the service"
        time.sleep(0.005)
    return (time.perf_counter() - started) * 1000
