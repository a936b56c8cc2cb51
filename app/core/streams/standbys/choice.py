"""Which rule for standbys the high-availability assignor takes."""

from app.core.streams.model import StreamsOptions
from app.core.streams.standbys.by_load import BY_LOAD
from app.core.streams.standbys.by_tags import BY_TAGS
from app.core.streams.standbys.policy import StandbyPolicy


def policy_for(options: StreamsOptions) -> StandbyPolicy:
    """By tags where any are listed. Racks are no tags: Kafka 4.0 has that rule too, and passes it no racks."""
    return BY_TAGS if options.rack_aware_assignment_tags else BY_LOAD
