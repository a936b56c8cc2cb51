"""The events of a Streams application in a request."""

from typing import Annotated

from pydantic import Field, Tag

from app.services.bodies import Request as RequestModel
from app.services.bodies import by_only_field
from app.services.fields import GroupString, Int32, Int64, Name, Rack

TagKey = Annotated[str, Field(min_length=1, max_length=249)]
Behind = Annotated[Int64, Field(ge=0, description="Offsets by which each task of a client lags after its restart.")]


class RollingDeployment(RequestModel):
    """Every client restarts, one after another."""

    keeps_state: bool = True
    """Whether a client still has its state directory after the restart."""
    behind: Behind = 0
    outlasts_session: bool = True
    """Whether the restart exceeds the session timeout, so that the group rebalances."""


class Deployment(RequestModel):
    """All clients restart together."""

    keeps_state: bool = True
    """Whether clients still have their state directories after the restart."""
    behind: Behind = 0


class TagValue(RequestModel):
    """A value of a client tag."""

    tag: TagKey
    """Name of the tag, as in `client.tag.<name>`."""
    value: Name
    """Value of the tag."""


class JoiningClient(RequestModel):
    """A client that joins; it has no state."""

    process_id: GroupString
    """Process id of the client: a UUID, or a name if all clients have names."""
    capacity: Annotated[Int32, Field(ge=1)] = 1
    """Number of stream threads."""
    client_tags: dict[TagKey, Name] = Field(default_factory=dict)
    """`client.tag.<key>` by key."""
    rack_id: Rack | None = None
    """`client.rack` of its consumers; null for none."""
    member_ids: list[GroupString] = Field(default_factory=list)
    """Under `streams`, the ids of its threads; `<process_id>-1` and so on."""


class RollingDeployRequest(RequestModel):
    """A rolling deploy, a step for each client."""

    rolling_deploy: RollingDeployment
    """How each client restarts."""


class DeployAtOnceRequest(RequestModel):
    """A deploy of all clients together."""

    deploy_at_once: Deployment
    """How the clients restart."""


class LoseClientRequest(RequestModel):
    """A client is lost."""

    lose_client: GroupString
    """Process id of the lost client."""


class LoseTagRequest(RequestModel):
    """All clients with a value of a tag, such as a zone, are lost together."""

    lose_tag: TagValue
    """Tag and value of the lost clients."""


class LoseClientsRackRequest(RequestModel):
    """All clients of a rack are lost together."""

    lose_rack: Annotated[Rack, Field(min_length=1)]
    """Rack of the lost clients."""


class ScaleOutRequest(RequestModel):
    """Clients join."""

    scale_out: Annotated[list[JoiningClient], Field(min_length=1)]
    """Clients that join together."""


class ScaleInRequest(RequestModel):
    """Clients are removed together."""

    scale_in: Annotated[list[GroupString], Field(min_length=1)]
    """Process ids of the clients that are removed."""


_EVENTS = (
    RollingDeployRequest,
    DeployAtOnceRequest,
    LoseClientRequest,
    LoseTagRequest,
    LoseClientsRackRequest,
    ScaleOutRequest,
    ScaleInRequest,
)
StreamsEventRequest = Annotated[
    Annotated[RollingDeployRequest, Tag("rolling_deploy")]
    | Annotated[DeployAtOnceRequest, Tag("deploy_at_once")]
    | Annotated[LoseClientRequest, Tag("lose_client")]
    | Annotated[LoseTagRequest, Tag("lose_tag")]
    | Annotated[LoseClientsRackRequest, Tag("lose_rack")]
    | Annotated[ScaleOutRequest, Tag("scale_out")]
    | Annotated[ScaleInRequest, Tag("scale_in")],
    by_only_field(_EVENTS),
]
