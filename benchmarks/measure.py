"""Timing, turn and turn about, and what a result says."""

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol, TypeVar

import orjson

from app.errors import Json

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Times:
    """How long each run of one thing took, in milliseconds.

    Parameters
    ----------
    ms : on the clock. cpu_ms : of it, on a processor in this process: where the two differ, others had the machine.
    """

    ms: tuple[float, ...]
    cpu_ms: tuple[float, ...]

    @property
    def median_ms(self) -> float:
        """Half of the runs were faster."""
        return median(self.ms)

    @property
    def cpu_median_ms(self) -> float:
        """Half of the runs took less of the processor; says nothing of what other processes did for a run."""
        return median(self.cpu_ms)


@dataclass(frozen=True, slots=True)
class Floor:
    """The least that the measured thing has to do anyway."""

    name: str
    times: Times


class Line(Protocol):
    """A result: a line of the output."""

    def line(self) -> str:
        """A JSON object."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one measurement found.

    Parameters
    ----------
    parameters : what was measured: sizes, algorithm, racks.
    is_in_process : whether all of the work is done by this process, so that its processor time is worth telling.
    target_ms, target_ratio : what the median, or its ratio to the floor's, shall not pass; None where nothing was set.
    facts : what else there is to say: bytes, peak memory, a figure to compare with.
    """

    name: str
    parameters: Mapping[str, Json]
    times: Times
    floor: Floor | None = None
    is_in_process: bool = True
    target_ms: float | None = None
    target_ratio: float | None = None
    facts: Mapping[str, Json] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """How often the floor's median goes into this one's."""
        return None if self.floor is None else self.times.median_ms / self.floor.times.median_ms

    def line(self) -> str:
        """The result as one JSON object."""
        document: dict[str, Json] = {
            "name": self.name,
            **self.parameters,
            "median_ms": round(self.times.median_ms, 3),
            "min_ms": round(min(self.times.ms), 3),
            "max_ms": round(max(self.times.ms), 3),
            "runs": len(self.times.ms),
        }
        if self.is_in_process:
            document["cpu_median_ms"] = round(self.times.cpu_median_ms, 3)
        if self.floor is not None and self.ratio is not None:
            document["floor"] = self.floor.name
            document["floor_median_ms"] = round(self.floor.times.median_ms, 3)
            document["ratio_to_floor"] = round(self.ratio, 2)
        if self.target_ms is not None:
            document |= {"target_ms": self.target_ms, "target_met": self.times.median_ms <= self.target_ms}
        if self.target_ratio is not None and self.ratio is not None:
            document |= {"target_ratio": self.target_ratio, "target_met": self.ratio <= self.target_ratio}
        return orjson.dumps(document | dict(self.facts)).decode()


def interleaved(calls: Mapping[Name, Callable[[], object]], *, runs: int, warm_ups: int = 2) -> dict[Name, Times]:
    """Time every call `runs` times, one after another in each round, so that a slow moment of the machine hits all.

    Every other round goes backwards: what one call leaves behind (dirty pages, a checkpoint) then is not always to the
    same one's cost. What a call returns is released after its clock has stopped.
    """
    for call in list(calls.values()) * warm_ups:
        call()
    taken: dict[Name, list[tuple[float, float]]] = {name: [] for name in calls}
    for round_number in range(runs):
        for name in list(calls) if round_number % 2 == 0 else reversed(list(calls)):
            started, cpu_started = time.perf_counter(), time.process_time()
            result = calls[name]()
            ended, cpu_ended = time.perf_counter(), time.process_time()
            taken[name].append(((ended - started) * 1000, (cpu_ended - cpu_started) * 1000))
            del result
    return {name: Times(*zip(*both, strict=True)) for name, both in taken.items()}
