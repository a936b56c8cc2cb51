"""Every assignor and every standby policy by name: the source of the API's enum, the docs and comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.core.streams.assignors import high_availability, sticky
from app.core.streams.model import AssignTasks
from app.core.streams.standbys import BY_LOAD, BY_TAGS, StandbyPolicy


@dataclass(frozen=True, slots=True)
class StreamsAssignor:
    """One assignor of tasks.

    Parameters
    ----------
    warms_up : whether it uses lags, and lets state catch up before a task moves (KIP-441).
    uses_tags : whether client tags decide the placement of standbys (KIP-708).
    uses_racks : whether KIP-925 can be on.
    default_costs : traffic cost and non-overlap cost if the options have none.
    """

    name: str
    summary: str
    assign: AssignTasks
    warms_up: bool = False
    uses_tags: bool = False
    uses_racks: bool = False
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
                uses_tags=True,
                uses_racks=True,
                default_costs=(high_availability.TRAFFIC_COST, high_availability.NON_OVERLAP_COST),
            ),
            StreamsAssignor(
                "sticky",
                "the default before 2.6: tasks stay where they were while no client has too many",
                sticky.assign,
                uses_racks=True,
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
"""Every assignor. To add one: a file with an `assign`, an entry here, tests and vectors."""

STANDBY_POLICIES: Mapping[str, StandbyPolicy] = MappingProxyType({policy.name: policy for policy in (BY_LOAD, BY_TAGS)})
"""Every standby policy of the high-availability assignor."""
