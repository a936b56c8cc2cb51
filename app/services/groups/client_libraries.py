"""Client libraries whose own assignors decide otherwise than those of Kafka's Java client and are not replayed.

The leader of a classic group runs its library's assignor, so that the leader's library counts. The coordinator's
assignors are the broker's, whichever clients the members are.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from app.core.groups.registry import Assignor
from app.services.cautions import Caution
from app.services.groups.requests import ClientLibrary

DIFFERENCES: Mapping[tuple[ClientLibrary, str], str] = MappingProxyType(
    {
        ("librdkafka", "cooperative-sticky"): "it has rules of its own",
    }
)
"""By library and assignor, why the assignment of a library's leader differs from the replay."""


def of_client(assignor: Assignor, client: ClientLibrary | None, leader: str) -> Iterator[Caution]:
    """Whether the replay holds for the library of a group's leader. client : None for Kafka's own."""
    if assignor.runs_on != "leader" or assignor.library is not None or client in (None, "java"):
        return
    difference = DIFFERENCES.get((client, assignor.name))
    if difference is None:
        detail = (
            f"the leader {leader} runs {assignor.name} of {client}, which is taken to assign as Kafka's Java client "
            "does; it was not compared"
        )
        yield Caution("client_not_compared", detail, members=(leader,))
    else:
        detail = (
            f"the leader {leader} runs {assignor.name} of {client}, which assigns otherwise than Kafka's Java client: "
            f"{difference}; the prediction does not hold"
        )
        yield Caution("assignor_of_another_client", detail, members=(leader,))
