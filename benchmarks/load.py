"""The load that a service sustains: reads, small plans and large ones from 1 to 64 connections, against a floor.

`rackplan serve` as it is by default, with its worker and its Postgres; the load is wrk's. The floor is the same
framework with one SELECT, in as many processes as there are cores, in turn with the service. Rates depend on what else
the machine does, so that shares of the floor are of processor time: that of all processes but Postgres for one request,
the median of the turns.
"""

import contextlib
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import numpy as np
import orjson
import psutil

from benchmarks.service import ROOT

CONNECTIONS = (1, 4, 16, 64)
SECONDS = float(os.environ.get("LOAD_SECONDS", "10"))
"""Of all turns of one kind of request together."""
MIX = (70, 25)
"""Of a hundred requests: reads, small plans; the others are large plans."""
READS_OF_FLOOR, SMALL_OF_FLOOR = 0.6, 0.5
_KINDS: Mapping[str, tuple[tuple[int, int], float | None]] = {
    "reads": ((100, 0), READS_OF_FLOOR),
    "small plans": ((0, 100), SMALL_OF_FLOOR),
    "mix": (MIX, None),
}
_TURNS = 5
_TURN_S = SECONDS / _TURNS
Run = dict[str, Any]
"""What wrk reported."""
_ALL = (100, 0)
_PLANS = "/v1/plans/replicas"
_LUA = Path(__file__).with_suffix(".lua")
_OVERLOAD: Sequence[tuple[int, float | None]] = ((128, None), (512, None), (512, 1_000.0))
"""Connections that send large plans, and requests a second of all of them; None is without a pause."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A result of this subject: it has several figures, none of which is the one."""

    facts: Mapping[str, Any]

    def line(self) -> str:
        """A JSON object."""
        return orjson.dumps(self.facts).decode()


def require_wrk() -> None:
    """End the benchmark if the program that sends the requests is missing."""
    if shutil.which("wrk") is None:
        raise SystemExit("load and burst need wrk: apt-get install wrk, or brew install wrk")


def run() -> Iterator[Figures]:
    """The floor, reads, small plans and the mix from each number of connections; then more than the capacity."""
    require_wrk()
    with serving() as service:
        read = f"/v1/plans/{stored_plan(service)}"
        with floor(service) as beneath:
            for connections in CONNECTIONS:
                yield from _in_turns(service, beneath, read, connections)
        for connections, per_s in _OVERLOAD:
            yield Figures({"name": "load beyond capacity", **_overloaded(service, read, connections, per_s)})


def _in_turns(service: "Served", beneath: "Served", read: str, connections: int) -> Iterator[Figures]:
    """The floor and each kind of request in turn, so that what else the machine does falls upon all of them."""
    calls: dict[str, Callable[[], Run]] = {
        "select": lambda: beneath.under(f"/plans/{read.rpartition('/')[2]}", _ALL, connections, seconds=_TURN_S),
        "insert": lambda: beneath.under("/inserted", _ALL, connections, seconds=_TURN_S),
    }
    for name, (mix, _) in _KINDS.items():
        calls[name] = partial(service.under, read, mix, connections, seconds=_TURN_S)
    for call in calls.values():
        call()  # caches fill
    runs: dict[str, list[Run]] = {name: [] for name in calls}
    for _ in range(_TURNS):
        for name, call in calls.items():
            runs[name].append(call())
    least_ms = _median(runs["select"], "cpu_ms")
    for name, of_name in runs.items():
        figures = {figure: _median(of_name, figure) for figure in ("per_s", "p50_ms", "p99_ms", "cpu_ms")}
        statuses = sum((Counter(run["statuses"]) for run in of_name), Counter[str]())
        share = {"of_select": round(least_ms / figures["cpu_ms"], 2), "target": _KINDS.get(name, ((), None))[1]}
        lost = sum(run["lost"] for run in of_name)
        yield Figures(
            {"name": f"load {name}", "connections": connections, **figures, "statuses": statuses, "lost": lost, **share}
        )


def _median(runs: Sequence[Run], figure: str) -> float:
    return round(float(median(run[figure] for run in runs)), 3)


@dataclass(frozen=True, slots=True)
class Served:
    """A server under load."""

    address: str
    process: psutil.Process

    def under(
        self,
        read: str,
        mix: tuple[int, int],
        connections: int,
        *,
        seconds: float = SECONDS,
        per_s: float | None = None,
        is_timed: bool = False,
    ) -> Run:
        """Rate, percentiles and processor time of a request with so many connections.

        Parameters
        ----------
        per_s : requests a second at most, of all connections together; None for as many as are answered.
        is_timed : whether times are reported by status, too, which takes a thread of wrk for each connection.
        """
        environment = os.environ | {
            "LOAD_READS": str(mix[0]), "LOAD_SMALL": str(mix[1]), "LOAD_PATH": read,
            "LOAD_SMALL_BODY": body(12), "LOAD_LARGE_BODY": body(10_000),
            "LOAD_DELAY_MS": "0" if per_s is None else str(round(1000 * connections / per_s)),
            "LOAD_TIMED": str(int(is_timed)),
        }  # fmt: skip
        before = self.cpu_s()
        threads = connections if is_timed else min(connections, 2)
        command = ["wrk", "--threads", str(threads), "--connections", str(connections), "--timeout", "60"]
        done = subprocess.run(
            [*command, "--duration", f"{max(1, round(seconds))}s", "--script", str(_LUA), self.address],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        cpu_s = self.cpu_s() - before
        found: Run = orjson.loads(done.stdout.partition("RESULT ")[2])
        return found | {
            "per_s": round(found["requests"] / found["seconds"], 1),
            "cpu_ms": round(1000 * cpu_s / max(1, found["requests"]), 3),
        }

    def resident_bytes(self) -> int:
        """Memory of all of its processes but Postgres', as `resident_by_part` counts it."""
        return sum(self.resident_by_part().values())

    def resident_by_part(self) -> dict[str, int]:
        """Resident memory by part: `listener`, `slots`, `worker` with its own slots; `spark`, which a sweep starts.

        Of what processes share, each has its part (PSS). Pages of files, such as libraries, are in none of them: the
        part of each depends on what other services of the machine run. Nor is the shared memory of Postgres.
        """
        parts = dict.fromkeys(("listener", "slots", "worker", "spark"), 0)
        below = {self.process.pid: "listener"}
        for process in self._family():
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.pid not in below:
                    command = " ".join(process.cmdline())
                    part = "spark" if process.name() == "java" else "worker" if "app.worker" in command else "slots"
                    above = below.get(process.ppid(), "slots")
                    below[process.pid] = part if part == "spark" or above == "listener" else above
                parts[below[process.pid]] += anonymous_bytes(process)
        return parts

    def _family(self) -> list[psutil.Process]:
        family = [self.process, *self.process.children(recursive=True)]
        return [process for process in family if process.is_running() and "postgres" not in process.name()]

    def cpu_s(self) -> float:
        """Processor time of all of its processes but Postgres', in seconds."""
        total = 0.0
        for process in self._family():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system
        return total


def anonymous_bytes(process: psutil.Process) -> int:
    """Resident memory of a process that is of no file; of what it shares with others, its part. Linux 5.0 states it."""
    try:
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        raise psutil.NoSuchProcess(process.pid) from None
    kib = {name: int(value) for name, value in re.findall(r"^(Pss_\w+): +(\d+) kB$", rollup, re.MULTILINE)}
    return 1024 * (kib["Pss_Anon"] + kib["Pss_Shmem"])


@contextlib.contextmanager
def serving(**settings: str) -> Iterator[Served]:
    """`rackplan serve` with its worker, on a free port, ready and with all of its slots."""
    with tempfile.TemporaryDirectory(prefix="rackplan-load-") as folder:
        Path(folder).chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")}
        own = {"RACKPLAN_PORT": "0", "RACKPLAN_DATA_DIR": f"{folder}/data", "RACKPLAN_SPARK_EARLY": "false"}
        own |= {"RACKPLAN_LOG_LEVEL": "warning"}
        command = [sys.executable, "-c", "from app.cli import main; main()", "serve"]
        with _started(command, environment | own | settings) as (process, said):
            address = said.split()[-1]
            deadline = time.monotonic() + 180
            while time.monotonic() < deadline:
                with contextlib.suppress(httpx.TransportError):
                    checks = httpx.get(f"{address}/readyz").json()["checks"]
                    if checks["loops"] == "compiled" and checks["slots"].endswith("processes"):
                        break
                time.sleep(0.5)
            else:
                raise SystemExit("the service was not ready within 180 s; `rackplan compile` first")
            yield Served(address, process)


@contextlib.contextmanager
def floor(service: Served) -> Iterator[Served]:
    """The floor over the database of a service."""
    child = next(p for p in service.process.children() if "app.worker" in " ".join(p.cmdline()))
    url = child.environ()["RACKPLAN_DATABASE_URL"]
    command = [sys.executable, "-m", "benchmarks.floor", str(os.cpu_count())]
    with _started(command, os.environ | {"RACKPLAN_DATABASE_URL": url}) as (process, said):
        time.sleep(2)
        yield Served(f"http://127.0.0.1:{said.strip()}", process)


@contextlib.contextmanager
def _started(command: list[str], environment: Mapping[str, str]) -> Iterator[tuple[psutil.Process, str]]:
    server = subprocess.Popen(
        command, cwd=ROOT, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        yield psutil.Process(server.pid), server.stdout.readline()
    finally:
        children = psutil.Process(server.pid).children(recursive=True)
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(30)
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        server.kill()
        server.wait()


def _overloaded(service: Served, read: str, connections: int, per_s: float | None) -> dict[str, Any]:
    """Large plans from more connections than can be served or wait: how soon are the rejections, and the recovery?"""
    before = service.resident_bytes()
    measured = service.under(read, (0, 0), connections, per_s=per_s, is_timed=True)
    ended = time.monotonic()
    with httpx.Client(base_url=service.address, timeout=60) as client:
        while client.post(_PLANS, content=body(10_000).replace("SEED", "1"), headers=_JSON).status_code != 201:
            time.sleep(0.1)
        recovered_s = time.monotonic() - ended
    grown = service.resident_bytes() - before
    sent = {"connections": connections, "sent_per_s": per_s}
    return {**sent, **measured, "recovered_s": round(recovered_s, 2), "grown_bytes": grown}


_JSON = {"Content-Type": "application/json"}


def slope_of(places: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """The slope of the least squares line, and its standard error; 0 and infinity for fewer than four places."""
    if len(places) < 4:
        return 0.0, math.inf
    line, covariance = np.polyfit(places, values, 1, cov=True)
    return float(line[0]), math.sqrt(covariance[0, 0])


def stored_plan(service: Served) -> str:
    """The id of a plan of 12 partitions, which is stored now."""
    answer = httpx.post(f"{service.address}{_PLANS}", content=body(12).replace("SEED", "7"), headers=_JSON, timeout=60)
    answer.raise_for_status()
    plan_id: str = answer.json()["id"]
    return plan_id


def body(partitions: int) -> str:
    """The request for a plan of one topic; SEED in it stands for a seed."""
    brokers = ",".join(f'{{"id":{broker},"rack":"r{broker % 3}"}}' for broker in range(1, 13))
    topic = f'{{"name":"orders","partitions":{partitions},"replication_factor":3}}'
    return f'{{"brokers":[{brokers}],"algorithm":"striped","seed":SEED,"topics":[{topic}]}}'
