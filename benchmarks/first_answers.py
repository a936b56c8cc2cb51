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
from contextlib import contextmanager, suppress
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
from benchmarks.measure import Result, Times

ROOT = Path(__file__).parents[1]
_INSTALLED_WITHIN_S = 1800.0
_ANSWERED_WITHIN_S = 300.0
_STOPS_WITHIN_S = 60.0
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


def run() -> Iterator[Result]:
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
        with self._process(["make", "run"]) as service:
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
            yield _once("stop", {"after": "its first start"}, _stop(service))

    def first_of(self, operation: str, option: str, body: object) -> Iterator[Result]:
        """The first request of a service that has just started, and the second; then how long the stop takes."""
        with self._serving() as (service, client, started_ms):
            yield _once("start, to first answer", {"before": option}, started_ms)
            paths = {"plan_reassignment": "/v1/plans/reassignment"}
            yield _twice(operation, option, client, "POST", paths[operation], json=body)
            yield _once("stop", {"after": option}, _stop(service))

    def operations(self) -> Iterator[Result]:
        """Every operation of the OpenAPI document with each of its examples, and the pages."""
        with self._serving() as (service, client, _):
            _wait_for_examples(client)
            memory = psutil.Process(service.pid).memory_info().rss
            yield _once("memory", {"after": "start"}, 0.0, rss_mb=memory // 2**20)
            document = client.get("/openapi.json").json()
            for path, methods in document["paths"].items():
                for method, operation in methods.items():
                    if method not in ("get", "post") or path.endswith("/events") or "{sweep_id}/clones" in path:
                        continue
                    yield from _answers(client, method.upper(), path, operation)
            for page in ("/", "/docs", "/openapi.json", f"/plans/{EXAMPLE_PLAN_ID}"):
                yield _twice("page", page, client, "GET", page)
            memory = psutil.Process(service.pid).memory_info().rss
            yield _once("memory", {"after": "two plans of each kind"}, 0.0, rss_mb=memory // 2**20)
            large = {
                "brokers": [{"id": broker, "rack": f"rack-{broker % 5}"} for broker in range(100)],
                "topics": [{"name": f"topic-{number}", "partitions": 10_000, "replication_factor": 3}
                           for number in range(100)],
                "seed": 1,
            }  # fmt: skip
            yield _twice("plan_replicas", "1,000,000 partitions", client, "POST", "/v1/plans/replicas", json=large)
            memory = psutil.Process(service.pid).memory_info().rss
            yield _once("memory", {"after": "two plans of 1,000,000 partitions"}, 0.0, rss_mb=memory // 2**20)
            yield _once("stop", {"after": "plans of every kind"}, _stop(service))

    def sweeps(self, keys: Path) -> Iterator[Result]:
        """Each kind of sweep, from the request to the last row, once Spark is started; and one that starts it."""
        with self._serving() as (service, client, _):
            _wait_for_examples(client)
            content = client.get("/openapi.json").json()["paths"]["/v1/sweeps"]["post"]["requestBody"]["content"]
            examples = content["application/json"]["examples"]
            bodies = {name: example["value"] for name, example in examples.items()}
            first = next(iter(bodies.values()))
            yield _once("sweep", {"example": "of a service that has just started"}, _swept(client, first))
            yield _once("stop", {"after": "a sweep"}, _stop(service))
        with self._serving() as (service, client, started_ms):
            started = time.perf_counter() - started_ms / 1000
            _wait_for_spark(service)
            yield _once("start, to Spark started", {}, (time.perf_counter() - started) * 1000)
            yield _once("memory", {"after": "start", "of": "Spark"}, 0.0, rss_mb=_spark_bytes(service) // 2**20)
            bodies["key_skew"] = {
                "kind": "key_skew",
                "dataset": {"path": str(keys), "format": "lines"},
                "partitions": 12,
                "partitioners": ["murmur2_adaptive"],
            }
            for name, body in bodies.items():
                first_ms, second_ms = _swept(client, body), _swept(client, body)
                yield _once("sweep", {"example": name}, first_ms, second_ms=round(second_ms, 1))
            yield _once("stop", {"after": "sweeps"}, _stop(service))

    def commands(self) -> Iterator[Result]:
        """The command and the imports, as whole processes: the least of five."""
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
            yield Result("command", {"command": name}, Times(tuple(taken), ()), is_in_process=False)

    @contextmanager
    def _process(self, command: list[str]) -> Iterator[subprocess.Popen[str]]:
        """A process with a group of its own, as a terminal's foreground job has, killed if it does not end."""
        process = subprocess.Popen(
            command, cwd=self._clone, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, start_new_session=True,
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
        started = time.perf_counter()
        with self._process([str(self._clone / ".venv/bin/rackplan"), "serve"]) as service:
            assert service.stdout is not None
            listens = _LISTENS.match(service.stdout.readline())
            assert listens is not None, "the service did not start"
            with httpx.Client(base_url=listens[1], timeout=_ANSWERED_WITHIN_S) as client:
                client.get("/v1/plans").raise_for_status()
                yield service, client, (time.perf_counter() - started) * 1000


def _once(name: str, parameters: Mapping[str, str], ms: float, **facts: float) -> Result:
    return Result(name, dict(parameters), Times((ms,), ()), is_in_process=False, facts=facts)


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
    while not any("pyspark.daemon" in command for _, command in _commands(service)):
        time.sleep(0.1)
    time.sleep(_FIRST_JOB_S)


def _spark_bytes(service: subprocess.Popen[str]) -> int:
    """Resident memory of the JVM and of the Python that it has started."""
    spark = [process for process, command in _commands(service) if {"pyspark-shell", "pyspark.daemon"} & {*command}]
    return sum(process.memory_info().rss for process in spark)


def _commands(service: subprocess.Popen[str]) -> Iterator[tuple[psutil.Process, list[str]]]:
    """The processes that the service has started, with their command lines."""
    for process in psutil.Process(service.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            yield process, process.cmdline()


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
