"""Every assignor by name, with one signature: the source of the API's enum, the docs and comparisons."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

import numpy as np

from app.core.groups.arrays.owned import OwnedRuns
from app.core.groups.arrays.partition_table import Weights
from app.core.groups.classic import cooperative_sticky, roundrobin, sticky
from app.core.groups.classic import range as classic_range
from app.core.groups.lifecycle.rebalance import Protocol
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member, Owned
from app.core.groups.optimum import optimal
from app.core.groups.optimum.by_load import balance_by_load
from app.core.groups.server import range as server_range
from app.core.groups.server import simple, uniform
from app.core.groups.server.topic_ids import by_name


class OwnedIn(Enum):
    """The field from which an assignor reads a member's owned partitions."""

    SUBSCRIPTION = "subscription"
    USER_DATA = "user_data"
    TARGET = "target"


@dataclass(frozen=True, slots=True)
class Assignor:
    """One assignor.

    Parameters
    ----------
    name : as in `partition.assignment.strategy` and `group.remote.assignor`, except for the coordinator's range.
    summary : one line for lists of assignors.
    assign : the assignor.
    protocol : the rebalance protocol of its members.
    runs_on : `leader` of a classic group, `coordinator` (KIP-848, share groups), or `nowhere`: not one of Kafka's.
    is_rack_aware : whether it uses racks.
    owned_in : None if owned partitions have no influence.
    is_exclusive : whether a partition is read by one member; in share groups several members read it.
    weighted : returns an assignor for given weights of reading in rack and loads to balance; None if it takes neither,
        as all of Kafka's.
    """

    name: str
    summary: str
    assign: Assign
    protocol: Protocol
    runs_on: str
    is_rack_aware: bool = False
    owned_in: OwnedIn | None = None
    is_exclusive: bool = True
    weighted: Callable[[Weights | None, Weights | None], Assign] | None = None

    def sees(self, member: Member) -> Member:
        """A member with its owned partitions in the order in which its client sends them to this assignor."""
        if self.owned_in is OwnedIn.USER_DATA:
            return sticky.in_user_data(member)
        return replace(member, owned=[Owned(run.topic, np.sort(run.partitions)) for run in member.owned])

    @property
    def is_sticky(self) -> bool:
        """Whether it is one of the two whose known faults depend on owned partitions."""
        return self.runs_on == "leader" and self.owned_in is not None


def _assign_sticky(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """The sticky assignor; partitions from a previous assignment are first ordered as clients write them."""
    written = [sticky.in_user_data(member) if isinstance(member.owned, OwnedRuns) else member for member in members]
    return sticky.assign(written, metadata)


def _weighted_optimum(worth: Weights | None, load: Weights | None) -> Assign:
    def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
        if load is not None:
            return balance_by_load(members, metadata, load).assignment
        return optimal.optimum(members, metadata, weights=worth).assignment

    return assign


ASSIGNORS: Mapping[str, Assignor] = MappingProxyType(
    {
        assignor.name: assignor
        for assignor in (
            Assignor(
                "range",
                "the classic client's default: a range of each topic to each member, rack-aware since KIP-881",
                classic_range.assign,
                Protocol.EAGER,
                "leader",
                is_rack_aware=True,
            ),
            Assignor(
                "roundrobin", "the classic round-robin over all partitions", roundrobin.assign, Protocol.EAGER, "leader"
            ),
            Assignor(
                "sticky",
                "the classic sticky assignor: even, then as it was; all is given up before it is handed out",
                _assign_sticky,
                Protocol.EAGER,
                "leader",
                is_rack_aware=True,
                owned_in=OwnedIn.USER_DATA,
            ),
            Assignor(
                "cooperative-sticky",
                "the sticky assignor in two phases: only what moves is given up",
                cooperative_sticky.assign,
                Protocol.COOPERATIVE,
                "leader",
                is_rack_aware=True,
                owned_in=OwnedIn.SUBSCRIPTION,
            ),
            Assignor(
                "uniform",
                "the coordinator's default under KIP-848: even, then as it was; ignores racks",
                by_name(uniform.assign),
                Protocol.RECONCILED,
                "coordinator",
                owned_in=OwnedIn.TARGET,
            ),
            Assignor(
                "server-range",
                "the coordinator's range under KIP-848; ignores racks",
                by_name(server_range.assign),
                Protocol.RECONCILED,
                "coordinator",
            ),
            Assignor(
                "simple",
                "share groups, as Kafka 4.0 has it: every member gets every partition of what it reads",
                by_name(simple.assign),
                Protocol.RECONCILED,
                "coordinator",
                is_exclusive=False,
            ),
            Assignor(
                "optimal",
                "none of Kafka's: balanced, then read in rack, then moved least, with its proof",
                optimal.assign,
                Protocol.RECONCILED,
                "nowhere",
                is_rack_aware=True,
                owned_in=OwnedIn.TARGET,
                weighted=_weighted_optimum,
            ),
        )
    }
)
"""Every assignor. To add one: a file with an `assign`, an entry here, tests and vectors."""
