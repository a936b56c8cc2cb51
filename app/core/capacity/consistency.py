"""What a scenario's sections ask of each other, and how large one scenario may be."""

from collections.abc import Sequence

from app.core.capacity.scenario import Clients, TopicLoad, Topology
from app.errors import ConflictingFields, LimitExceeded

MOST_BROKERS = 10_000
MOST_REPLICAS = 50_000_000
"""Of one scenario. A larger one would take a whole executor's memory, and the scenarios beside it with it."""


def require_together(topology: Topology, topics: Sequence[TopicLoad], multiplier: int, clients: Clients) -> None:
    """Raise what does not go together: `ConflictingFields`, or `LimitExceeded` where a scenario is too large.

    topics : before their partitions are multiplied, since that may be what makes them too many.
    """
    brokers = sum(topology.brokers_per_rack.values())
    if brokers > MOST_BROKERS:
        raise LimitExceeded(
            f"a scenario has {brokers} brokers; the limit is {MOST_BROKERS}",
            path=("topology", "brokers_per_rack"),
            value=brokers,
            maximum=MOST_BROKERS,
        )
    for index, topic in enumerate(topics):
        if topic.replication_factor > brokers:
            raise ConflictingFields(
                f"replication factor {topic.replication_factor} of topic {topic.name} needs as many brokers; "
                f"{brokers} given",
                path=("topics", index, "replication_factor"),
                value=topic.replication_factor,
                maximum=brokers,
            )
    replicas = multiplier * sum(topic.partitions * topic.replication_factor for topic in topics)
    if replicas > MOST_REPLICAS:
        raise LimitExceeded(
            f"a scenario has {replicas} replicas; the limit is {MOST_REPLICAS}",
            path=("topics",),
            value=replicas,
            maximum=MOST_REPLICAS,
        )
    for name in ("producer_share_per_rack", "consumer_share_per_rack"):
        for rack in getattr(clients, name) or ():
            if rack not in topology.brokers_per_rack:
                raise ConflictingFields(
                    f"{name} names rack {rack}; the racks are {', '.join(topology.racks)}",
                    path=("clients", name, rack),
                    value=rack,
                )
