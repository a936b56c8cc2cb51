"""Every assignor by name, with one signature: the source of the API's enum, the docs and comparisons."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

from app.core.groups.arrays.owned import OwnedRuns
from app.core.groups.arrays.partition_table import Weights
from app.core.groups.classic import cooperative_sticky, librdkafka_sticky, roundrobin, sticky
from app.core.groups.classic import range as classic_range
from app.core.groups.kafka_python import range as kafka_python_range
from app.core.groups.kafka_python import sticky as kafka_python_sticky
from app.core.groups.lifecycle.rebalance import Protocol
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member, Owned
from app.core.groups.optimum import optimal
from app.core.groups.optimum.by_load import balance_by_load
from app.core.groups.server import range as server_range
from app.core.groups.server import simple, simple_hashed, simple_shared, uniform
from app.core.groups.server.group import by_name
from app.core.groups.server.share_group import Assignable
from app.core.groups.server.uniform import Remainder
from app.core.kafka_versions import NEWEST, KafkaVersion, Replayed, ReplayedLibrary
from app.errors import FieldPath
from app.errors.requests import AssignorUnavailable


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
    replays : Kafka's class and the releases in which it decides so; None if it is not one of Kafka's.
    library : the class of another client library than Kafka's, which decides so in every release of Kafka; else None.
    restricted : returns an assignor of a share group for the partitions that may be assigned, by topic id; None if it
        assigns all.
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
    replays: Replayed | None = None
    library: ReplayedLibrary | None = None
    restricted: Callable[[Assignable], Assign] | None = None
    weighted: Callable[[Weights | None, Weights | None], Assign] | None = None

    def sees(self, member: Member) -> Member:
        """A member with its owned partitions in the order in which its client sends them to this assignor."""
        if self.owned_in is OwnedIn.USER_DATA and self.library is None:
            return sticky.in_user_data(member)
        return replace(member, owned=[Owned(run.topic, np.sort(run.partitions)) for run in member.owned])

    @property
    def is_sticky(self) -> bool:
        """Whether it is one of Kafka's two whose known faults depend on owned partitions."""
        return self.runs_on == "leader" and self.owned_in is not None and self.library is None


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


def _by_shares(assign: Callable[..., GroupAssignment]) -> tuple[Assign, Callable[[Assignable], Assign]]:
    """The assignor of a share group, of all partitions and of those that may be assigned."""
    return by_name(assign), lambda assignable: by_name(partial(assign, assignable=assignable))


_BY_HASH, _BY_HASH_OF_SOME = _by_shares(simple_hashed.assign)
_SHARED, _SHARED_OF_SOME = _by_shares(simple_shared.assign)
_CODE: Mapping[str, Mapping[str, Any]] = {
    "range": {"assign": classic_range.assign, "replays": classic_range.REPLAYS},
    "roundrobin": {"assign": roundrobin.assign, "replays": roundrobin.REPLAYS},
    "sticky": {"assign": _assign_sticky, "replays": sticky.REPLAYS},
    "cooperative-sticky": {"assign": cooperative_sticky.assign, "replays": cooperative_sticky.REPLAYS},
    "server-range": {"assign": by_name(server_range.assign, depends_on_order=False), "replays": server_range.REPLAYS},
    "simple of 4.0": {"assign": by_name(simple.assign, depends_on_order=False), "replays": simple.REPLAYS},
    "simple of 4.1": {"assign": _BY_HASH, "restricted": _BY_HASH_OF_SOME, "replays": simple_hashed.REPLAYS},
    "simple": {"assign": _SHARED, "restricted": _SHARED_OF_SOME, "replays": simple_shared.REPLAYS},
    "optimal": {"assign": optimal.assign, "weighted": _weighted_optimum},
    "range of kafka-python": {"assign": kafka_python_range.assign, "library": kafka_python_range.REPLAYS},
    "sticky of kafka-python": {"assign": kafka_python_sticky.assign, "library": kafka_python_sticky.REPLAYS},
    "cooperative-sticky of librdkafka": {"assign": librdkafka_sticky.assign, "library": librdkafka_sticky.REPLAYS},
    **{
        name: {"assign": by_name(partial(uniform.assign, remainder=remainder)), "replays": uniform.REPLAYS[remainder]}
        for name, remainder in (("uniform of 4.0.0", Remainder.FIRST_MEMBERS), ("uniform", Remainder.OWNERS))
    },
}
"""The code of each row of assignors.json, by its id."""


def _assignor(row: Mapping[str, Any]) -> Assignor:
    traits = {name: value for name, value in row.items() if name != "id"} | {"protocol": Protocol(row["protocol"])}
    if "owned_in" in row:
        traits["owned_in"] = OwnedIn(row["owned_in"])
    return Assignor(**traits, **_CODE[row["id"]])


_ROWS = [_assignor(row) for row in json.loads(files("app.core.groups").joinpath("assignors.json").read_bytes())]
ASSIGNOR_RELEASES: Sequence[Assignor] = [assignor for assignor in _ROWS if assignor.library is None]
"""Every assignor, of each release that decides otherwise. To add one: a file with an `assign`, its code in this module,
a row in assignors.json, tests and vectors."""
LIBRARY_ASSIGNORS: Mapping[tuple[str, str], Assignor] = {
    (assignor.library.library, assignor.name): assignor for assignor in _ROWS if assignor.library is not None
}
"""By client library and name, the assignors that decide otherwise than Kafka's Java client."""


def assignor_of_library(assignor: Assignor, library: str | None) -> Assignor:
    """The assignor of that name as a client library has it, if it is replayed; else the given one."""
    return LIBRARY_ASSIGNORS.get((library or "", assignor.name), assignor)


def assignor_for(name: str, version: KafkaVersion, *, path: FieldPath = ("assignor",)) -> Assignor:
    """The assignor of that name as a release has it.

    A release before the first or after the last one that was compared has the assignor that is nearest to it, if the
    assignor exists in that release.

    Raises
    ------
    AssignorUnavailable : if the release has no assignor of the name; `path` is its field.
    KeyError : if there is no assignor of the name in any release.
    """
    entries = [entry for entry in ASSIGNOR_RELEASES if entry.name == name]
    if not entries:
        raise KeyError(name)
    since = _SINCE.get(name)
    if since is not None and version < KafkaVersion.of(since):
        raise AssignorUnavailable(
            f"the assignor {name} exists since Kafka {since}; kafka_version {version} given",
            path=path,
            value=name,
            kafka_version=str(version),
            minimum=since,
        )
    return next((entry for entry in entries if entry.replays is None or version in entry.replays.holds), entries[0])


def later_versions(assignor: Assignor, version: KafkaVersion) -> list[KafkaVersion]:
    """The releases after `version` from which on the assignor of that name is another, ascending."""
    if assignor.library is not None:
        return []
    entries = [entry.replays for entry in ASSIGNOR_RELEASES if entry.name == assignor.name and entry is not assignor]
    first = [KafkaVersion.of(replays.holds.from_) for replays in entries if replays is not None]
    return sorted(release for release in first if release > version)


_SINCE: Mapping[str, str] = {"uniform": "4.0.0", "server-range": "4.0.0", "simple": "4.0.0"}
"""The first release with each of the coordinator's assignors; the classic client's are in all since 2.4."""

ASSIGNORS: Mapping[str, Assignor] = {
    name: assignor_for(name, NEWEST) for name in dict.fromkeys(entry.name for entry in ASSIGNOR_RELEASES)
}
"""Every assignor by name, as the newest release has it."""
