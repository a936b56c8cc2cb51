"""Many draws of one placement: what a controller's dice do to the balance, seed after seed.

Scenario i of a sweep over draws places the topics from seed `first_seed` + i, one after another on one generator, as
`registry.place_topics` does, and counts where the replicas are. Fenced brokers count: where an algorithm leaves them
out, they lead and hold nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.core.jvm import JavaRandom
from app.core.measures.placement import rack_safe_share
from app.core.measures.tally import BrokerTable, tally_over
from app.core.model import Broker, NewTopic
from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS, Algorithm, place_topics
from app.core.scenario_error import ScenarioError
from app.errors import Json

NUMBERS = ("leader_spread", "replica_spread", "most_leaders", "most_replicas", "rack_safe_share")
"""The figures of a draw. A spread is max - min over the brokers; the share is None where no broker has a rack."""


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Topics to place on brokers, from `count` seeds in a row."""

    brokers: tuple[Broker, ...]
    topics: tuple[NewTopic, ...]
    algorithm: Algorithm
    rack_mode: RackMode | None
    first_seed: int
    count: int


def read_draws(definition: Mapping[str, Any]) -> Draws:
    """A sweep's JSON: topics, algorithm, rack_mode, seeds, and the brokers of `resolved`. Its shape is trusted."""
    mode = definition.get("rack_mode")
    seeds = definition["seeds"]
    return Draws(
        brokers=tuple(Broker(**broker) for broker in definition["resolved"]["brokers"]),
        topics=tuple(NewTopic(**topic) for topic in definition["topics"]),
        algorithm=PLACEMENTS[definition["algorithm"]],
        rack_mode=None if mode is None else RackMode(mode),
        first_seed=seeds["first"],
        count=seeds["count"],
    )


def score_draws(draws: Draws, start: int, stop: int) -> list[dict[str, Json]]:
    """Place from the seeds of scenarios start … stop − 1; one that fails becomes a row with its error."""
    in_play = draws.algorithm.in_play(draws.brokers, draws.rack_mode)
    table = BrokerTable.of(draws.brokers)
    rows: list[dict[str, Json]] = []
    for index in range(start, stop):
        seed = draws.first_seed + index
        found: dict[str, Json] = {"index": index, "axes": {"seed": seed}}
        try:
            rows.append(found | _figures(draws, in_play, table, seed) | {"error": None})
        except Exception as error:  # noqa: BLE001 — one draw must not take the others of its range with it
            rows.append(found | {"error": ScenarioError.of(error).document()})
    return rows


def _figures(draws: Draws, in_play: tuple[Broker, ...], table: BrokerTable, seed: int) -> dict[str, Json]:
    placements = place_topics(draws.algorithm, in_play, draws.topics, random=JavaRandom(seed))
    counts = tally_over(table, {placement.topic: placement.assignment for placement in placements})
    most = counts.per_broker.max(axis=0).tolist()
    least = counts.per_broker.min(axis=0).tolist()
    return {
        "leader_spread": most[0] - least[0],
        "replica_spread": most[1] - least[1],
        "most_leaders": most[0],
        "most_replicas": most[1],
        "rack_safe_share": rack_safe_share(counts),
    }
