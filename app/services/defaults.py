"""What a request states for topics of which the snapshot does not know it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from app.core.model import INT32_MAX, MIN_INSYNC_REPLICAS, Cluster, Topic
from app.formats.syntax.quantities import counted
from app.services.bodies import RequestRecord
from app.services.cautions import Caution

NAMED_TOPICS = 20
"""The most topics that a warning names; it counts them all."""


@dataclass(frozen=True)
class Defaults(RequestRecord, schema="DefaultsFields"):
    """What counts if the snapshot does not have it; a warning says so."""

    min_insync_replicas: Annotated[int, Field(ge=1, le=INT32_MAX)] | None = None
    """`min.insync.replicas` of topics whose own is unknown; null if this is unknown, too."""


def with_defaults(
    cluster: Cluster, defaults: Defaults | None, about: Collection[str] | None = None
) -> tuple[Cluster, tuple[Caution, ...]]:
    """The cluster whose topics have the defaults where theirs are unknown, and the warning that names these topics.

    Parameters
    ----------
    about : the topics that the warning is about; None is all.
    """
    least = None if defaults is None else defaults.min_insync_replicas
    if least is None:
        return cluster, ()
    stated = {MIN_INSYNC_REPLICAS: str(least)}
    unknown = [topic.name for topic in cluster.topics if topic.min_insync_replicas is None]
    topics = tuple([replace(topic, configs={**stated, **topic.configs}) for topic in cluster.topics])
    named = [name for name in unknown if about is None or name in about]
    return replace(cluster, topics=topics), assumed(named, least)


def assumed(topics: Sequence[str], least: int) -> tuple[Caution, ...]:
    """The warning that `min.insync.replicas` of topics is assumed; none without topics."""
    if not topics:
        return ()
    detail = f"{counted(len(topics), 'topic')} of unknown min.insync.replicas: the {least} of `defaults` counts"
    return (Caution("min_isr_assumed", detail, topics=tuple(topics[:NAMED_TOPICS])),)


def min_isr_of(topics: Iterable[Topic]) -> Mapping[str, int]:
    """`min.insync.replicas` by topic, of topics for which it is known."""
    return {topic.name: least for topic in topics if (least := topic.min_insync_replicas) is not None}
