"""The body of a request for a Streams plan: the topics and events of it, which the service has in another form."""

from dataclasses import dataclass, field

from app.api.groups import GroupTopicRequest
from app.api.streams.events import StreamsEventRequest, event_of
from app.errors.requests import ConflictingFields
from app.services.bodies import ListOf
from app.services.streams import StreamsRequest
from app.services.streams.requests import ClientRequest


@dataclass(frozen=True, kw_only=True)
class PlanStreamsRequest(StreamsRequest):
    """An application: its tasks and its clients."""

    topics: ListOf[GroupTopicRequest] | None = None  # type: ignore[assignment] # replicas are part of a partition
    """Source and changelog topics; null if a snapshot has them."""
    clients: ListOf[ClientRequest] | None = None  # type: ignore[assignment] # null, if a group has them
    """Instances of the application; null if `group` names a recorded group."""
    events: ListOf[StreamsEventRequest] = field(default_factory=list)  # type: ignore[assignment] # a class for each
    """Events after the plan has been applied, in order."""

    def service(self) -> StreamsRequest:
        """As the service knows it. Raises `ConflictingFields`."""
        if self.clients is None and self.group is None:
            raise ConflictingFields("a request lists clients or names a group of its snapshot", path=("clients",))
        topics = None if self.topics is None else [topic.listed(place) for place, topic in enumerate(self.topics)]
        read = {"topics": topics, "clients": self.clients or [], "events": [*map(event_of, self.events)]}
        return StreamsRequest(**vars(self) | read)
