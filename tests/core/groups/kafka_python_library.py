"""The assignors of the installed kafka-python, called as the leader of a group calls them."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from app.core.groups.model import GroupMetadata, Member

pytest.importorskip("kafka", reason="the extra `kafka` is not installed")

with warnings.catch_warnings():
    # The library reads its schemas by a function that newer Pythons deprecate.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.sticky import partition_movements, sticky_assignor
    from kafka.coordinator.assignors.sticky.user_data import StickyAssignorUserData
    from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

CLASSES = {"range": RangePartitionAssignor, "sticky": sticky_assignor.StickyPartitionAssignor}
Lists = dict[str, list[tuple[str, int]]]


class AscendingSet(set[Any]):
    """A set whose order is ascending: a possible order of a set, and the replay's."""

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(super().__iter__()))

    def pop(self) -> Any:
        first = min(self)
        self.remove(first)
        return first

    def intersection(self, *others: Iterable[object]) -> "AscendingSet":
        return AscendingSet(super().intersection(*others))


@contextmanager
def ascending_sets() -> Iterator[None]:
    """The library chooses as the replay does, where it takes a partition out of a set."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (partition_movements, sticky_assignor):
            patch.setattr(module, "set", AscendingSet, raising=False)
        yield


class _Cluster:
    """The part of `kafka.cluster.ClusterMetadata` that assignors use: the leader knows all subscribed topics."""

    def __init__(self, members: Sequence[Member], metadata: GroupMetadata, internal: frozenset[str]) -> None:
        subscribed = {name for member in members for name in member.topics}
        self._partitions = {
            name: set(range(len(topic.replicas))) for name, topic in metadata.topics.items() if name in subscribed
        }
        self._internal = internal

    def topics(self) -> set[str]:
        return set(self._partitions) - self._internal

    def partitions_for_topic(self, name: str) -> set[int] | None:
        return self._partitions.get(name)


def user_data(member: Member) -> bytes:
    """The user data of a member that was assigned its partitions in its generation; none without a generation."""
    if member.generation_id is None:
        return b""
    previous = [(run.topic, run.partitions.tolist()) for run in member.owned]
    encoded: bytes = StickyAssignorUserData(previous, member.generation_id).encode()
    return encoded


def library_assignment(
    name: str, members: Sequence[Member], metadata: GroupMetadata, internal: frozenset[str] = frozenset()
) -> Lists:
    """The lists of partitions by member, from the library itself. internal: the topics that brokers state to be so."""
    joined = [
        SimpleNamespace(
            member_id=member.id,
            group_instance_id=member.group_instance_id,
            metadata=ConsumerProtocolSubscription.decode(
                ConsumerProtocolSubscription(0, list(member.topics), user_data(member)).encode()
            ),
        )
        for member in members
    ]
    answer = CLASSES[name]().assign(_Cluster(members, metadata, internal), joined)
    return {
        member: [(topic, partition) for topic, ids in assignment.assigned_partitions for partition in ids]
        for member, assignment in answer.items()
    }
