"""Sweeps over seeds: how balanced the placements of one algorithm are, seed after seed.

Scenario i places the topics with seed `independent_seed(first_seed, i)`, one after another with one random generator,
as `registry.place_topics` does, and counts leaders and replicas. Fenced brokers count: if an algorithm excludes them,
they have no leaders and no replicas.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from app.core.jvm import JavaRandom, independent_seed
from app.core.measures.placement import rack_safe_share
from app.core.measures.tally import BrokerArrays, tally_over
from app.core.model import Broker, NewTopic
from app.core.replicas.options import RackMode
from app.core.replicas.registry import PLACEMENTS, Algorithm, place_topics
from app.errors import Json

NUMBERS = ("leader_spread", "replica_spread", "most_leaders", "most_replicas", "rack_safe_share")
"""The figures of a scenario. A spread is max − min over the brokers; the share is None if no broker has a rack."""


@dataclass(frozen=True, eq=False)
class DrawsSweep:
    """Topics placed on brokers with `count` seeds: independent ones, or consecutive ones in sweeps of former releases.

    Examples
    --------
    >>> from app.core.sweeps import score
    >>> sweep = read_sweep(
    ...     {
    ...         "topics": [{"name": "orders", "partitions": 3, "replication_factor": 2}],
    ...         "algorithm": "striped",
    ...         "seeds": {"first": 0, "count": 10},
    ...         "resolved": {
    ...             "brokers": [{"id": i, "rack": f"r{i}", "fenced": False} for i in range(3)],
    ...             "independent_seeds": True,
    ...         },
    ...     }
    ... )
    >>> [row.document["leader_spread"] for row in score(sweep, 0, 3)]
    [0, 0, 0]
    """

    without_figures: ClassVar[Mapping[str, Json]] = {}
    brokers: tuple[Broker, ...]
    topics: tuple[NewTopic, ...]
    algorithm: Algorithm
    rack_mode: RackMode | None
    first_seed: int
    count: int
    is_independent: bool = True

    def seed(self, index: int) -> int:
        return independent_seed(self.first_seed, index) if self.is_independent else self.first_seed + index

    def coordinates(self, index: int) -> dict[str, Json]:
        """The seed as the only axis. Raises IndexError beyond the last scenario."""
        if not 0 <= index < self.count:
            raise IndexError(index)
        return {"axes": {"seed": self.seed(index)}}

    def figures(self, index: int) -> Mapping[str, Json]:
        """The spreads and maxima of scenario `index`. Raises as `place_topics` does."""
        placements = place_topics(self.algorithm, self._eligible, self.topics, random=JavaRandom(self.seed(index)))
        counts = tally_over(self._table, {placement.topic: placement.assignment for placement in placements})
        most = counts.per_broker.max(axis=0).tolist()
        least = counts.per_broker.min(axis=0).tolist()
        return {
            "leader_spread": most[0] - least[0],
            "replica_spread": most[1] - least[1],
            "most_leaders": most[0],
            "most_replicas": most[1],
            "rack_safe_share": rack_safe_share(counts),
        }

    @cached_property
    def _eligible(self) -> tuple[Broker, ...]:
        return self.algorithm.in_play(self.brokers, self.rack_mode)

    @cached_property
    def _table(self) -> BrokerArrays:
        return BrokerArrays.of(self.brokers)


def read_sweep(definition: Mapping[str, Any]) -> DrawsSweep:
    """Read a sweep's JSON: topics, algorithm, rack_mode, seeds, and the brokers of `resolved`, validated before."""
    mode = definition.get("rack_mode")
    seeds = definition["seeds"]
    return DrawsSweep(
        brokers=tuple(Broker(**broker) for broker in definition["resolved"]["brokers"]),
        topics=tuple(NewTopic(**topic) for topic in definition["topics"]),
        algorithm=PLACEMENTS[definition["algorithm"]],
        rack_mode=None if mode is None else RackMode(mode),
        first_seed=seeds["first"],
        count=seeds["count"],
        is_independent=definition["resolved"].get("independent_seeds", False),
    )
