"""Clients that repeat each request with its Idempotency-Key until it is answered, and note acknowledgements."""

import itertools
import random
import time
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

import httpx

from app.api.examples import SWEEP_BASE

SCENARIOS = 40
ANSWERED_WITHIN_S = 600.0
BROKERS = [{"id": number, "rack": f"r{number % 3}"} for number in range(6)]


@dataclass
class Acknowledged:
    """The service's answers by Idempotency-Key, and wrong answers."""

    plans: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    sweeps: dict[str, dict[str, Any]] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    """The first seed of each sweep."""
    unexpected: list[str] = field(default_factory=list)
    repeated: int = 0
    """Requests that were sent again."""
    lock: Lock = field(default_factory=Lock)

    def ended(self) -> dict[str, int]:
        """How many of each kind were acknowledged, jobs and sweeps at their end."""
        return {"plans": len(self.plans), "jobs": len(self.jobs), "sweeps": len(self.sweeps)}


class Client:
    """One client of a thread: plans, jobs or sweeps until it is stopped; the last one is finished."""

    def __init__(self, address: str, acknowledged: Acknowledged, is_over: Event, *, seed: int) -> None:
        self._http = httpx.Client(base_url=address, timeout=20, verify=False)  # noqa: S501 -- no TLS
        self._acknowledged, self._is_over = acknowledged, is_over
        self._random = random.Random(seed)
        self._numbers = itertools.count(seed * 1_000_000)

    def close(self, _: object = None) -> None:
        """Close the connections."""
        self._http.close()

    def plan(self) -> None:
        """Plan, answered at once; now and then repeat a request that was answered."""
        sent: list[tuple[str, dict[str, Any]]] = []
        while not self._is_over.is_set():
            body = plan_body(next(self._numbers))
            key = f"plan-{body['seed']}"
            answer = self._post("/v1/plans/replicas", body, key)
            self._acknowledged.plans[key] = {"id": answer["id"], "hash": answer["hash"]}
            sent.append((key, body))
            if self._random.random() < 0.2:
                key, body = self._random.choice(sent)
                again = self._post("/v1/plans/replicas", body, key)
                if again["id"] != self._acknowledged.plans[key]["id"]:
                    self._acknowledged.unexpected.append(f"{key} was answered by another plan")

    def job(self) -> None:
        """Plan by jobs, each followed to its end."""
        while not self._is_over.is_set():
            body = plan_body(next(self._numbers)) | {"labels": {"by": "job"}}
            key = f"job-{body['seed']}"
            accepted = self._post("/v1/plans/replicas", body, key, {"Prefer": "respond-async"})
            self._acknowledged.jobs[key] = self._ended(f"/v1/jobs/{accepted['id']}")

    def sweep(self) -> None:
        """Sweep, each followed to its end."""
        while not self._is_over.is_set():
            start = next(self._numbers)
            key = f"sweep-{start}"
            self._acknowledged.starts[key] = start
            accepted = self._post("/v1/sweeps", sweep_body(start), key)
            self._acknowledged.sweeps[key] = self._ended(f"/v1/sweeps/{accepted['id']}")

    def _post(self, path: str, body: Any, key: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
        ends = time.monotonic() + ANSWERED_WITHIN_S
        headers = {"Idempotency-Key": key} | (headers or {})
        while time.monotonic() < ends:
            try:
                response = self._http.post(path, json=body, headers=headers)
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                if response.is_success:
                    document: dict[str, Any] = response.json()
                    return document
                self._judge(response, f"POST {path}")
            with self._acknowledged.lock:
                self._acknowledged.repeated += 1
        raise AssertionError(f"POST {path} with the key {key} has no answer")

    def _ended(self, path: str) -> dict[str, Any]:
        ends = time.monotonic() + ANSWERED_WITHIN_S
        while time.monotonic() < ends:
            try:
                response = self._http.get(path)
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            if not response.is_success:
                self._judge(response, f"GET {path}")
            else:
                document: dict[str, Any] = response.json()
                if document["finished_at"] is not None:
                    return document
            time.sleep(0.2)
        raise AssertionError(f"{path} has not ended")

    def _judge(self, response: httpx.Response, what: str) -> None:
        """Unavailable, or in progress; and a killed slot cannot be distinguished from one that lacked memory."""
        is_killed = response.status_code == 413 and '"slot_memory_mib"' in response.text
        if response.status_code not in {409, 503} and not is_killed:
            self._acknowledged.unexpected.append(f"{what}: {response.status_code} {response.text[:300]}")
        time.sleep(0.2)


def plan_body(seed: int) -> dict[str, Any]:
    """A small plan of this seed."""
    topics = [{"name": "orders", "partitions": 30, "replication_factor": 3}]
    return {"brokers": BROKERS, "algorithm": "striped", "seed": seed, "topics": topics, "labels": {}}


def sweep_body(start: int) -> dict[str, Any]:
    """A sweep of seeds from this one on."""
    topics = [SWEEP_BASE["topics"][0] | {"partitions": 300}]
    base = SWEEP_BASE | {"topics": topics, "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 4}}
    return {"kind": "capacity", "base": base, "axes": {"placement.seed": {"from": start, "to": start + SCENARIOS - 1}}}
