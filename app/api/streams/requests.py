"""The body of a request for a Streams plan: the topics and events of it, which the service has in another form."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from app.api.groups import GroupTopicRequest
from app.errors.requests import ConflictingFields
from app.services.bodies import ListOf, one_event_of
from app.services.bodies import Request as RequestModel
from app.services.fields import GroupString, Rack
from app.services.streams import StreamsRequest
from app.services.streams.requests import Behind, ClientRequest, Deploy, JoiningClient, StreamsEvent, TagValue


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


StreamsEventRequest = one_event_of(
    *(RollingDeployRequest, DeployAtOnceRequest, LoseClientRequest, LoseTagRequest, LoseClientsRackRequest),
    *(ScaleOutRequest, ScaleInRequest),
)


def event_of(event: RequestModel) -> StreamsEvent:
    """The event as the service knows it."""
    if isinstance(event, DeployAtOnceRequest):
        return StreamsEvent(deploy_at_once=Deploy(**dict(event.deploy_at_once)))
    return StreamsEvent(**dict(event))


@dataclass(frozen=True, kw_only=True)
class PlanStreamsRequest(StreamsRequest):
    """An application: its tasks and its clients."""

    topics: ListOf[GroupTopicRequest] | None = None  # type: ignore[assignment] # replicas are part of a partition
    """Source and changelog topics; null if a snapshot has them."""
    clients: ListOf[ClientRequest] | None = None  # type: ignore[assignment] # null, if a group has them
    """Instances of the application; null if `group` names a recorded group."""
    events: ListOf[StreamsEventRequest] = field(default_factory=list)  # type: ignore[valid-type] # made by `one_event_of`
    """Events after the plan has been applied, in order."""

    def service(self) -> StreamsRequest:
        """As the service knows it. Raises `ConflictingFields`."""
        if self.clients is None and self.group is None:
            raise ConflictingFields("a request lists clients or names a group of its snapshot", path=("clients",))
        topics = None if self.topics is None else [topic.listed(place) for place, topic in enumerate(self.topics)]
        read = {"topics": topics, "clients": self.clients or [], "events": [*map(event_of, self.events)]}
        return StreamsRequest(**vars(self) | read)
