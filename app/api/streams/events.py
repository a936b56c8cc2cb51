"""The events of a Streams application in a request."""

from typing import Annotated

from pydantic import Field, Tag

from app.services.bodies import Request as RequestModel
from app.services.bodies import by_only_field
from app.services.fields import GroupString, Rack
from app.services.streams.requests import Behind, Deploy, JoiningClient, StreamsEvent, TagValue


class Deployment(RequestModel):
    """All clients restart together."""

    keeps_state: bool = True
    """Whether clients still have their state directories after the restart."""
    behind: Behind = 0


class RollingDeployRequest(RequestModel):
    """A rolling deploy, a step for each client."""

    rolling_deploy: Deploy
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


def event_of(event: RequestModel) -> StreamsEvent:
    """The event as the service knows it."""
    if isinstance(event, DeployAtOnceRequest):
        return StreamsEvent(deploy_at_once=Deploy(**dict(event.deploy_at_once)))
    return StreamsEvent(**dict(event))
