"""What the client library of a group's leader means for a plan.

The leader of a classic group runs its library's assignor, so that the leader's library counts. The coordinator's
assignors are the broker's, whichever clients the members are.
"""

from collections.abc import Iterator

from app.core.groups.registry import Assignor
from app.services.cautions import Caution
from app.services.groups.requests import ClientLibrary

_DEFAULT_CLIENT_IDS = {"sarama": "sarama", "kgo": "franz-go", "kafkajs": "KafkaJS", "rdkafka": "librdkafka"}
"""By the client id if none is set, with which member ids begin."""


def of_client(assignor: Assignor, client: ClientLibrary | None, leader: str, *, topics: int) -> Iterator[Caution]:
    """Whether the replay holds for the library of a group's leader.

    Parameters
    ----------
    client : None if it is not stated: Kafka's own, unless the leader has the default client id of another.
    topics : the number of topics that members subscribe to.
    """
    library: str | None = client or _DEFAULT_CLIENT_IDS.get(leader.partition("-")[0])
    if assignor.runs_on != "leader" or library in (None, "java"):
        return
    if assignor.library is None:
        detail = (
            f"the leader {leader} runs {assignor.name} of {library}, which is taken to assign as Kafka's Java client "
            "does; it was not compared"
        )
        yield Caution("client_not_compared", detail, members=(leader,))
    elif client == "librdkafka" and topics > 1:
        detail = (
            f"{assignor.name} of {client} assigns partitions without a member in the order in which the broker lists "
            "topics, which is not recorded; it is taken to be that of the request or snapshot"
        )
        yield Caution("topic_order_unknown", detail)
