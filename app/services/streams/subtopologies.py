"""Topics that each subtopology's tasks read and restore: as listed, or as `Topology#describe()` prints them."""

from collections.abc import Collection, Sequence

from app.core.groups.model import GroupMetadata
from app.core.jvm.hashes import TaskId, TopicPartition
from app.core.model import unpadded
from app.core.streams.model import TaskPartitions
from app.errors.every import ConflictingFields, FieldPath, MalformedText
from app.formats.streams import topology_text
from app.formats.streams.topology_text import Subtopology
from app.services.snapshots import require_distinct
from app.services.streams.requests import StreamsRequest, SubtopologyRequest


def subtopologies_of(request: StreamsRequest, metadata: GroupMetadata | None) -> Sequence[SubtopologyRequest]:
    """The listed subtopologies, or those in the library's description. Global stores have no tasks.

    Raises
    ------
    MalformedText : the text is not the library's description.
    ConflictingFields : both are there, or a source reads topics by a pattern.
    """
    if request.topology is None:
        return request.subtopologies or ()
    if request.subtopologies is not None:
        raise ConflictingFields("subtopologies are either listed or read from topology", path=("subtopologies",))
    try:
        described = topology_text.read(request.topology)
    except MalformedText as malformed:
        malformed.path = ("topology",)
        raise
    there: Collection[str] = () if metadata is None else metadata.topics
    return [_described(one, request.application_id, there) for one in described if not one.is_global]


def _described(subtopology: Subtopology, application_id: str | None, there: Collection[str]) -> SubtopologyRequest:
    """A subtopology with its topics under the names that they have, if the cluster has them."""
    if subtopology.source_patterns:
        pattern = subtopology.source_patterns[0]
        detail = f"subtopology {subtopology.id} reads topics by the pattern {pattern}; list them in subtopologies"
        raise ConflictingFields(detail, path=("topology",), value=pattern)
    prefix = "" if application_id is None else f"{application_id}-"
    made = {topic: f"{prefix}{topic}" for topic in subtopology.repartition_topics if f"{prefix}{topic}" in there}
    return SubtopologyRequest(
        subtopology.id,
        source_topics=[made.get(topic, topic) for topic in subtopology.source_topics],
        # A store whose logging is off has no changelog, and the text does not say so.
        changelog_topics=[topic for topic in subtopology.changelog_topics(application_id or "") if topic in there],
        is_stateful=subtopology.is_stateful,
    )


def has_state(subtopology: SubtopologyRequest) -> bool:
    """Whether its tasks have state: as stated, or else whether there is a changelog."""
    is_stateful = subtopology.is_stateful
    return bool(subtopology.changelog_topics) if is_stateful is None else is_stateful


def partitions_of(subtopologies: Sequence[SubtopologyRequest], metadata: GroupMetadata) -> TaskPartitions | None:
    """The partitions of each task: task n of a subtopology has partition n of each topic that has one."""
    if not subtopologies:
        return None
    ids = [subtopology.id for subtopology in subtopologies]
    require_distinct("subtopology", ids, ConflictingFields, "subtopologies", member="id")
    sources: dict[TaskId, list[TopicPartition]] = {}
    changelogs: dict[TaskId, list[TopicPartition]] = {}
    for place, subtopology in enumerate(subtopologies):
        read = _counts(subtopology.source_topics, metadata, ("subtopologies", place, "source_topics"))
        if not read:
            detail = f"subtopology {subtopology.id} reads no topic, so that its number of tasks is unknown"
            raise ConflictingFields(detail, path=("subtopologies", place, "source_topics"))
        restored = _counts(subtopology.changelog_topics, metadata, ("subtopologies", place, "changelog_topics"))
        for number in range(max(read.values())):
            sources[subtopology.id, number] = [(topic, number) for topic, count in read.items() if number < count]
            changelogs[subtopology.id, number] = [
                (topic, number) for topic, count in restored.items() if number < count
            ]
    named = {
        topic for subtopology in subtopologies for topic in (*subtopology.source_topics, *subtopology.changelog_topics)
    }
    replicas = {name: unpadded(metadata.topics[name].replicas) for name in sorted(named)}
    return TaskPartitions(sources, changelogs, replicas, metadata.rack_of)


def _counts(names: Sequence[str], metadata: GroupMetadata, path: FieldPath) -> dict[str, int]:
    counts = {}
    for place, name in enumerate(names):
        if name not in metadata.topics:
            detail = f"there is no topic {name}; its partitions are needed"
            raise ConflictingFields(detail, path=(*path, place), value=name)
        counts[name] = len(metadata.topics[name].replicas)
    return counts
