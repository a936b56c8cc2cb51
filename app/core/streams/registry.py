"""Every assignor and every rule for standbys by its name: what the API's enum, the docs and comparisons read."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.core.streams.assignors import high_availability, sticky
from app.core.streams.model import AssignTasks
from app.core.streams.standbys.by_load import BY_LOAD
from app.core.streams.standbys.by_tags import BY_TAGS
from app.core.streams.standbys.policy import StandbyPolicy


@dataclass(frozen=True, slots=True)
class StreamsAssignor:
    """One assignor of tasks.

    Parameters
    ----------
    warms_up : whether it minds lags, and lets state catch up before a task moves (KIP-441).
    minds_tags : whether client tags decide where standbys go (KIP-708). spreads_racks : whether KIP-925 can be on.
    default_costs : of traffic and of a move, where the options name none.
    """

    name: str
    summary: str
    assign: AssignTasks
    warms_up: bool = False
    minds_tags: bool = False
    spreads_racks: bool = False
    default_costs: tuple[int, int] | None = None


STREAMS_ASSIGNORS: Mapping[str, StreamsAssignor] = MappingProxyType(
    {
        assignor.name: assignor
        for assignor in (
            StreamsAssignor(
                "high_availability",
                "the default since 2.6: balanced, then to where the state is, with warm-ups and probing rebalances",
                high_availability.assign,
                warms_up=True,
                minds_tags=True,
                spreads_racks=True,
                default_costs=(high_availability.TRAFFIC_COST, high_availability.NON_OVERLAP_COST),
            ),
            StreamsAssignor(
                "sticky",
                "the default before 2.6: tasks stay where they were while no client has too many",
                sticky.assign,
                spreads_racks=True,
                default_costs=(sticky.TRAFFIC_COST, sticky.NON_OVERLAP_COST),
            ),
            StreamsAssignor(
                "fallback_prior",
                "what Kafka takes while it cannot learn the lags: every active task stays where it was",
                sticky.assign_prior,
            ),
        )
    }
)
"""Every assignor; to add one is a file with an `assign`, an entry here, its tests and its vectors."""

STANDBY_POLICIES: Mapping[str, StandbyPolicy] = MappingProxyType({policy.name: policy for policy in (BY_LOAD, BY_TAGS)})
"""Every rule by which the high-availability assignor places standbys."""
