"""The coordinator's assignors over topics by name, as the rest of a group's records have them.

The coordinator knows topics by id, and which partitions go where can hang on the order of the ids. Where a topic's id
is not known, one is made of its name, so that the same request has the same answer; it is then one that Kafka could
give, and not always the one that it will. Subscribed topics that do not exist have no id and do not come to the
assignor.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Protocol

from app.core.groups.arrays.owned import OwnedRuns
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata

_ID_BYTES = 16


class AssignById(Protocol):
    """An assignor of the coordinator."""

    def __call__(self, members: Sequence[Member], topics: Mapping[str, int]) -> GroupAssignment: ...


def by_name(assign: AssignById) -> Assign:
    """The assignor as one that takes and answers topics by name."""

    def assign_by_name(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
        id_of = {name: id_of_topic(topic) for name, topic in metadata.topics.items()}
        name_of = {topic_id: name for name, topic_id in id_of.items()}
        topics = {id_of[name]: len(topic.replicas) for name, topic in metadata.topics.items()}
        answer = assign(_Translated(id_of).members(members), topics)
        return replace(answer, topics=[name_of[topic_id] for topic_id in answer.topics])

    return assign_by_name


def id_of_topic(topic: TopicMetadata) -> str:
    """The topic's id, or where it is not known one that is made of its name."""
    if topic.topic_id is not None:
        return topic.topic_id
    return urlsafe_b64encode(sha256(topic.name.encode()).digest()[:_ID_BYTES]).decode().rstrip("=")


class _Translated:
    """Members with topic ids instead of names. What many members share is translated once, and shared again."""

    def __init__(self, id_of: Mapping[str, str]) -> None:
        self._id_of = id_of
        # By identity; what is looked up is kept alive beside what it became.
        self._subscribed: dict[int, tuple[Sequence[str], tuple[str, ...]]] = {}
        self._named: dict[int, tuple[Sequence[str], Sequence[str]]] = {}

    def members(self, members: Sequence[Member]) -> list[Member]:
        return [replace(member, topics=self._topics(member.topics), owned=self._owned(member)) for member in members]

    def _topics(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if id(names) not in self._subscribed:
            known = tuple(self._id_of[name] for name in dict.fromkeys(names) if name in self._id_of)
            self._subscribed[id(names)] = names, known
        return self._subscribed[id(names)][1]

    def _owned(self, member: Member) -> Sequence[Owned]:
        owned = member.owned
        if not isinstance(owned, OwnedRuns):
            return tuple(Owned(self._id_of[run.topic], run.partitions) for run in owned if run.topic in self._id_of)
        if id(owned.topics) not in self._named:
            # A topic that is gone keeps its place under its name, which is no topic's id.
            self._named[id(owned.topics)] = owned.topics, [self._id_of.get(name, name) for name in owned.topics]
        return replace(owned, topics=self._named[id(owned.topics)][1])
