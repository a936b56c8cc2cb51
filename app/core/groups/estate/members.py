"""Who is lost of a group, and who joins it.

Who is lost is drawn by the group's id and the seed, and by nothing else: every assignor meets the same loss, and who
is lost among two is among three, too. Members that join do so one after another, each into the rack with the fewest.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from app.core.groups.model import GroupMetadata, Member
from app.errors import ConflictingFields


def survivors(members: Sequence[Member], count: int, *, group_id: str, seed: int) -> tuple[Member, ...]:
    """The members that are left once `count` are lost, in their order.

    Raises `ConflictingFields` where the group has fewer.
    """
    if count > len(members):
        detail = f"group {group_id} has {len(members)} members; {count} cannot be lost"
        raise ConflictingFields(detail, path=("members_lost",), value=count, maximum=len(members))
    # No id holds a NUL, so that no two texts are the same.
    drawn = sorted(
        members, key=lambda member: blake2b(f"{seed}\0{group_id}\0{member.id}".encode(), digest_size=16).digest()
    )
    lost = {member.id for member in drawn[:count]}
    return tuple(member for member in members if member.id not in lost)


def with_added(
    members: Sequence[Member], count: int, *, recorded: Sequence[Member], metadata: GroupMetadata
) -> tuple[Member, ...]:
    """The members, and `count` that join at their end: called `added-1` and so on, owning nothing.

    Each subscribes to what most of the `recorded` ones do (the first's, of equals) and joins in the rack that has the
    fewest members by then, of equals the first by name. Racks are those of the live brokers and of the recorded
    members; where no recorded member has one, those that join have none either.
    """
    topics = _most_common([member.topics for member in recorded])
    racks = {rack for rack in metadata.rack_of.values() if rack} | {m.rack_id for m in recorded if m.rack_id}
    is_racked = any(member.rack_id for member in recorded)
    crowd = Counter(member.rack_id for member in members)
    taken = {member.id for member in recorded}
    joined = list(members)
    number = 0
    while len(joined) < len(members) + count:
        number += 1
        if f"added-{number}" in taken:
            continue
        rack = min(racks, key=lambda rack: (crowd[rack], rack)) if is_racked else None
        crowd[rack] += 1
        joined.append(Member(f"added-{number}", topics, rack))
    return tuple(joined)


def _most_common(subscriptions: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The first subscription of those that most have, in whatever order each names its topics."""
    counts = Counter(frozenset(topics) for topics in subscriptions)
    return max(subscriptions, key=lambda topics: counts[frozenset(topics)], default=())
