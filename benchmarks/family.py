"""The processes of a service by what they are for, and their memory."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import orjson
import psutil

_API, _WORKER = "API", "worker"
_SERVER_OF = {_API: "server of the API's slots", _WORKER: "server of the worker's slots"}
"""By its parent, the purpose of the process from which slots are forked."""
SLOTS = "API's slots"
_SLOTS_OF = {_SERVER_OF[_API]: SLOTS, _SERVER_OF[_WORKER]: "worker's slots"}
_NAME_OF_SLOTS = "rackplan-slots"
_SPARK = frozenset({"pyspark-shell", "pyspark.daemon"})


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of processes of one purpose, in bytes.

    Parameters
    ----------
    processes : how many there are.
    rss : resident, in which what processes share counts in each.
    pss : resident, in which each has its part of what processes share: these add up to what a service takes.
    uss : what no other process shares, which would be freed with the processes.
    """

    processes: int = 0
    rss: int = 0
    pss: int = 0
    uss: int = 0

    def __add__(self, other: "Memory") -> "Memory":
        """The memory of both."""
        return Memory(
            self.processes + other.processes, self.rss + other.rss, self.pss + other.pss, self.uss + other.uss
        )


@dataclass(frozen=True, slots=True)
class MemoryResult:
    """The memory of the processes of one purpose after something."""

    after: str
    of: str
    memory: Memory

    def line(self) -> str:
        """The result as one JSON object."""
        one = self.memory
        sizes = {"rss_mib": one.rss, "pss_mib": one.pss, "uss_mib": one.uss}
        document = {"name": "memory", "after": self.after, "of": self.of, "processes": one.processes}
        return orjson.dumps(document | {name: size >> 20 for name, size in sizes.items()}).decode()


def commands(service: int) -> Iterator[tuple[psutil.Process, list[str]]]:
    """The processes that a service has started, with their command lines."""
    for process in psutil.Process(service).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            yield process, process.cmdline()


def memory(service: int) -> Mapping[str, Memory]:
    """The memory of a service's processes: API, worker, the servers and slots of both, Spark, Postgres, others."""
    purposes = {service: _API}
    found: dict[str, Memory] = {}
    for process, command in [(psutil.Process(service), []), *commands(service)]:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            purpose = purposes.setdefault(process.pid, _purpose(process, command, purposes.get(process.ppid())))
            one = process.memory_full_info()
            found[purpose] = found.get(purpose, Memory()) + Memory(1, one.rss, one.pss, one.uss)
    return found


def memory_results(service: int, *, after: str) -> Iterator[MemoryResult]:
    """The memory of each purpose, then of all processes."""
    found = memory(service)
    for purpose, one in found.items():
        yield MemoryResult(after, purpose, one)
    yield MemoryResult(after, "all", sum(found.values(), Memory()))


def is_of_spark(command: list[str]) -> bool:
    """Whether a command line is that of the JVM or of the Python that it has started."""
    return not _SPARK.isdisjoint(command)


def _purpose(process: psutil.Process, command: list[str], parent: str | None) -> str:
    """What a process is for, by its name, its command line and the purpose of its parent, which is listed before it."""
    name = process.name()
    if name == _NAME_OF_SLOTS:
        return (_SERVER_OF | _SLOTS_OF).get(parent or "", "others")
    if name == "postgres":
        return "Postgres"
    if is_of_spark(command) or parent == "Spark":
        return "Spark"
    return _WORKER if "app.worker" in command else "others"
