"""What a request says about broker sets, and what is wrong with it by itself."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from app.errors.reassignments import UnknownBrokerSet
from app.errors.requests import ConflictingFields, DuplicateBroker
from app.errors.suggestions import suggestion
from app.services.fields import TopicName

BrokerSetName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$", description="A broker set's name.")]
TopicSetsRequest: TypeAlias = Literal["topic_name_hash"] | Mapping[TopicName, BrokerSetName]
"""By topic its broker set; or the policy that chooses it by the topic's name."""


def check_broker_sets(broker_sets: Mapping[str, Sequence[int]], topic_sets: TopicSetsRequest) -> None:
    """Raise what is wrong with broker sets, before a cluster is looked at.

    Raises
    ------
    DuplicateBroker : a broker is in two sets, or twice in one. UnknownBrokerSet : a topic is bound to a set that is
    not listed. ConflictingFields : a set without brokers, or topics without sets.
    """
    set_of: dict[int, str] = {}
    for name, brokers in broker_sets.items():
        if not brokers:
            raise ConflictingFields(f"broker set {name} has no brokers", path=("broker_sets", name), value=0, minimum=1)
        for place, broker in enumerate(brokers):
            if broker in set_of:
                other = set_of[broker]
                words = f"is listed twice in broker set {name}" if other == name else f"is in broker set {other}, too"
                detail = f"broker {broker} of broker set {name} {words}; sets have no broker in common"
                raise DuplicateBroker(detail, path=("broker_sets", name, place), value=broker, other_set=other)
            set_of[broker] = name
    if isinstance(topic_sets, str):
        if not broker_sets:
            detail = f"topic_sets {topic_sets} chooses among broker_sets, and there are none"
            raise ConflictingFields(detail, path=("topic_sets",), value=topic_sets)
        return
    for topic, name in topic_sets.items():
        if name not in broker_sets:
            listed = ", ".join(sorted(broker_sets)[:20]) or "none"
            detail = f"topic {topic} is bound to broker set {name}; broker_sets lists {listed}"
            detail += suggestion(name, broker_sets)
            raise UnknownBrokerSet(detail, path=("topic_sets", topic), value=name)
