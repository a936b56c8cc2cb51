"""The request that is measured over HTTP and without: one topic to place, requested anew each time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import httpx
import orjson

from app.core.model import Broker, NewTopic
from app.errors import Json
from app.services.replicas import ReplicasRequest
from benchmarks import clusters

PLANS = "/v1/plans/replicas"
BROKERS = 60
FACTOR = 3
TOPIC = "events"


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """A topic of so many partitions on 60 brokers; without a seed the answer also has the envelope of all draws.

    Each request has another label, all of one length, so that each has a plan of its own, of the same size. An equal
    request would get the plan that is stored already.
    """

    algorithm: str
    racks: str
    seed: int | None
    partitions: int
    _numbers: Iterator[int] = field(default_factory=count, compare=False, repr=False)

    @property
    def parameters(self) -> dict[str, Json]:
        """What a result says of it."""
        return {
            "algorithm": self.algorithm,
            "seed": self.seed,
            "brokers": BROKERS,
            "racks": self.racks,
            "partitions": self.partitions,
            "replication_factor": FACTOR,
        }

    @property
    def brokers(self) -> tuple[Broker, ...]:
        """What it is to be placed on."""
        return clusters.brokers(BROKERS, racks=self.racks)

    def post(self, client: httpx.Client, path: str = PLANS) -> bytes:
        """Ask over HTTP; gives the answer's body."""
        response = client.post(path, content=self.body(), headers={"Content-Type": "application/json"})
        assert response.status_code == httpx.codes.CREATED, response.text
        return response.content

    def body(self) -> bytes:
        """The request as JSON, under the next label."""
        return orjson.dumps(
            {
                "brokers": [{"id": broker.id, "rack": broker.rack} for broker in self.brokers],
                "algorithm": self.algorithm,
                "seed": self.seed,
                "topics": [{"name": TOPIC, "partitions": self.partitions, "replication_factor": FACTOR}],
                "labels": self._next_labels(),
            }
        )

    def service(self) -> ReplicasRequest:
        """The same for the service, without HTTP."""
        return ReplicasRequest(
            [NewTopic(TOPIC, self.partitions, FACTOR)],
            brokers=self.brokers,
            algorithm=self.algorithm,
            seed=self.seed,
            labels=self._next_labels(),
        )

    def _next_labels(self) -> dict[str, str]:
        return {"benchmark": f"{next(self._numbers):08d}"}
