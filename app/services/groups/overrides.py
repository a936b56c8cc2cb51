"""Racks and subscriptions that a request adds to the members of a recorded group: the tools' tables have neither."""

import fnmatch
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.core.recorded import RecordedMember
from app.errors import FieldPath
from app.errors.requests import ConflictingFields, DuplicateTopic
from app.services.cautions import Caution, caution
from app.services.groups.requests import ClientLibrary, MemberOverride
from app.services.snapshots import first_repeated

FIELD = "member_overrides"
NAMED_OVERRIDES = 20
"""The most overrides that a warning names; it counts them all."""
_SELECTORS = ("member_id", "client_id", "host")


@dataclass(frozen=True, slots=True)
class KnownMember:
    """A recorded member with the request's additions. knows_rack: whether its rack, or that it has none, is known."""

    member: RecordedMember
    knows_rack: bool
    client: ClientLibrary | None = None


def overridden(
    members: Sequence[RecordedMember], overrides: Sequence[MemberOverride]
) -> tuple[list[KnownMember], list[Caution]]:
    """The members in their order, and a warning if overrides match none.

    Of several overrides that match a member, the first that has a field decides it.

    Raises
    ------
    ConflictingFields : an override selects members by none or several of `member_id`, `client_id` and `host`, or has
        neither a rack nor topics.
    DuplicateTopic : an override subscribes to a topic twice.
    """
    selects = [_selector(override, (FIELD, place)) for place, override in enumerate(overrides)]
    matched: set[int] = set()
    known = []
    for member in members:
        matching = [place for place, select in enumerate(selects) if select(member)]
        matched.update(matching)
        known.append(_known(member, [overrides[place] for place in matching]))
    unmatched = [str(place) for place in range(len(overrides)) if place not in matched]
    if not unmatched:
        return known, []
    lost = caution("overrides_without_member", unmatched=unmatched, overrides=overrides, field=FIELD, of=members)
    return known, [lost]


def _known(member: RecordedMember, overrides: Sequence[MemberOverride]) -> KnownMember:
    racks = [override.rack_id for override in overrides if override.rack_id is not None]
    topics = [override.topics for override in overrides if override.topics is not None]
    # Racks are recorded with subscriptions; one that is given by itself counts, too.
    knows_rack = bool(racks) or member.topics is not None or member.rack_id is not None
    if racks:
        member = replace(member, rack_id=racks[0] or None)
    if topics:
        member = replace(member, topics=tuple(topics[0]))
    clients = [override.client for override in overrides if override.client is not None]
    return KnownMember(member, knows_rack, clients[0] if clients else None)


def _selector(override: MemberOverride, path: FieldPath) -> Callable[[RecordedMember], bool]:
    given = [name for name in _SELECTORS if getattr(override, name) is not None]
    if len(given) != 1:
        detail = f"an override selects members by one of {', '.join(_SELECTORS)}; this one has {len(given)} of them"
        raise ConflictingFields(detail, path=path)
    if override.rack_id is None and override.topics is None and override.client is None:
        raise ConflictingFields("an override has rack_id, topics or client; this one has none of them", path=path)
    if override.topics is not None and (twice := first_repeated(list(override.topics))) is not None:
        detail = f"the override subscribes to {override.topics[twice]} twice"
        raise DuplicateTopic(detail, path=(*path, "topics", twice), value=override.topics[twice])
    if override.member_id is not None:
        return lambda member: member.member_id == override.member_id
    if override.client_id is not None:
        matches = _pattern(override.client_id)
        return lambda member: member.client_id is not None and matches(member.client_id)
    matches = _pattern(override.host or "")
    return lambda member: member.host is not None and matches(member.host)


def _pattern(text: str) -> Callable[[str], bool]:
    """`*` is any text and `?` any character; brackets are themselves."""
    expression = re.compile(fnmatch.translate(text.replace("[", "[[]")))
    return lambda value: expression.match(value) is not None
