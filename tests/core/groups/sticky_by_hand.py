"""The sticky assignors step by step, over Java's collections: slow, for comparison with the compiled ones.

Members are dicts as the vectors write them; `replicas` is topic → one list of broker ids a partition. What a Java
program would throw is a `Thrown`, named by the exception.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from app.core.jvm import JavaHashMap, JavaHashSet
from app.core.jvm.hashes import STRING, TOPIC_PARTITION, KeyType, objects_hash, string_hash_code, utf16_order

Partition: TypeAlias = tuple[str, int]
Pair: TypeAlias = tuple[str, str]
PAIR: KeyType[Pair] = KeyType("pair", lambda pair: objects_hash(*map(string_hash_code, pair)))


class Thrown(Exception):
    """An exception of Java."""


def owned_in_user_data(member: Mapping[str, Any]) -> list[Partition]:
    """The content of sticky's user data: by topic, in the order in which a HashMap of topics is iterated."""
    by_topic: JavaHashMap[str, list[int]] = JavaHashMap(STRING)
    for topic, ids in member.get("owned") or ():
        for partition in ids:
            by_topic.compute_if_absent(topic, list).append(partition)
    return [(topic, partition) for topic in by_topic for partition in by_topic[topic]]


class Group:
    """Input of both builders."""

    def __init__(
        self,
        members: Sequence[Mapping[str, Any]],
        replicas: Mapping[str, Sequence[Sequence[int]]],
        rack_of: Mapping[int, str | None],
        *,
        cooperative: bool,
    ) -> None:
        self.members: JavaHashMap[str, Mapping[str, Any]] = JavaHashMap(STRING)
        for member in members:
            self.members[member["id"]] = member
        subscribed = {topic for member in self.members.values() for topic in member["topics"]}
        self.replicas = {topic: replicas[topic] for topic in subscribed if replicas.get(topic)}
        self.claims: dict[str, list[Partition]] = {}
        self.generation: dict[str, int] = {}
        self.stated_generation: dict[str, int] = {}
        for name, member in self.members.items():
            generation = member.get("generation_id")
            self.stated_generation[name] = -1 if generation is None or generation < 0 else generation
            if cooperative:
                self.claims[name] = [(topic, p) for topic, ids in member.get("owned") or () for p in ids]
                self.generation[name] = self.stated_generation[name]
            else:
                self.claims[name] = [] if generation is None else owned_in_user_data(member)
                self.generation[name] = -1 if generation is None else generation
        self.newest = max([-1, *self.generation.values()])
        self.sort_into_racks(rack_of)
        self.take_claims()

    def sort_into_racks(self, rack_of: Mapping[int, str | None]) -> None:
        racks = {name: member["rack_id"] for name, member in self.members.items() if member.get("rack_id")}
        racks_of = {
            (topic, p): {rack for rack in map(rack_of.get, ids) if rack is not None}
            for topic, rows in self.replicas.items()
            for p, ids in enumerate(rows)
        }
        everywhere = set().union(*racks_of.values()) if racks_of else set()
        useful = bool(everywhere & set(racks.values())) and any(there != everywhere for there in racks_of.values())
        self.rack: dict[str, str] = racks if useful else {}
        self.racks_of: dict[Partition, set[str]] = racks_of if useful else {}
        self.near = {tp: sum(rack in there for rack in racks.values()) for tp, there in self.racks_of.items()}

    def elsewhere(self, member: str, partition: Partition) -> bool:
        rack = self.rack.get(member)
        return rack is not None and rack not in self.racks_of.get(partition, set())

    def take_claims(self) -> None:
        """Whose claims are believed, and whether all subscribe to the same."""
        self.owned: JavaHashMap[str, list[Partition]] = JavaHashMap(STRING)
        self.disputed: set[Partition] = set()
        self.all_equal = True
        first: set[str] = set()
        claimant: dict[Partition, str] = {}
        for name, member in self.members.items():
            topics = member["topics"]
            if not first:
                first = set(topics)
            elif len(topics) != len(first) or not first.issuperset(topics):
                self.all_equal = False
            mine = self.owned[name] = []
            for tp in self.claims[name]:
                if tp[0] not in self.replicas:
                    continue
                other = claimant.get(tp)
                if other is None:
                    mine.append(tp)
                    claimant[tp] = name
                elif self.generation[name] == self.stated_generation[other]:
                    self.disputed.add(tp)
                    discard(self.owned[other], tp)
                    claimant[tp] = name
                elif self.generation[name] > self.stated_generation[other]:
                    mine.append(tp)
                    discard(self.owned[other], tp)
                    claimant[tp] = name


def discard(items: list[Any], item: Any) -> None:
    if item in items:
        items.remove(item)


class Constrained:
    """All subscribe to the same: everyone gets the same number, within one."""

    def __init__(self, group: Group) -> None:
        self.group = group
        total, count = sum(map(len, group.replicas.values())), len(group.owned)
        if count == 0:
            raise Thrown("ArithmeticException")
        self.low, self.high, self.expected = total // count, -(-total // count), total % count
        self.over = 0
        self.given: dict[str, list[Partition]] = {name: [] for name in group.owned}
        self.revoked: dict[Partition, str] = {}
        self.moving: dict[Partition, str] = {}
        self.under: list[str] = []
        self.exact: list[str] = []

    def build(self, *, cooperative: bool) -> dict[str, list[Partition]]:
        for name in self.group.owned:
            self.keep(name)
        assigned = sorted((tp for given in self.given.values() for tp in given), key=by_topic)
        left = without(sorted(all_of(self.group.replicas), key=by_topic), assigned)
        self.under.sort(key=utf16_order)
        self.exact.sort(key=utf16_order)
        left.sort(key=lambda tp: self.group.near.get(tp, 0))
        self.deal_in_turn(self.deal_near(left) if self.group.rack else left)
        if self.under and self.over != self.expected:
            raise Thrown("IllegalStateException")
        if any(len(self.given[name]) != self.low for name in self.under):
            raise Thrown("IllegalStateException")
        for tp, name in self.moving.items() if cooperative else ():
            discard(self.given[name], tp)
        return self.given

    def keep(self, name: str) -> None:
        mine = self.group.owned[name]
        self.revoked |= {tp: name for tp in mine if self.group.elsewhere(name, tp)}
        owned = [tp for tp in mine if not self.group.elsewhere(name, tp) and tp not in self.group.disputed]
        owned.sort(key=lambda tp: (tp[1], utf16_order(tp[0])))
        if len(owned) < self.low:
            keep = len(owned)
            self.under.append(name)
        elif len(owned) >= self.high and self.over < self.expected:
            keep = self.high
            self.count_over()
        else:
            keep = self.low
            if self.over < self.expected:
                self.exact.append(name)
        self.given[name] += owned[:keep]
        self.revoked |= dict.fromkeys(owned[keep:], name)

    def count_over(self) -> None:
        self.over += 1
        if self.over == self.expected:
            self.exact.clear()

    def give(self, tp: Partition, name: str) -> int:
        self.given[name].append(tp)
        if self.revoked.get(tp, name) != name or tp in self.group.disputed:
            self.moving[tp] = name
        return len(self.given[name])

    def near(self, tp: Partition, names: list[str], start: int) -> int:
        places = [(start + i) % len(names) for i in range(len(names))]
        return next((place for place in places if self.group.rack.get(names[place]) in self.group.racks_of[tp]), -1)

    def deal_near(self, left: Iterable[Partition]) -> list[Partition]:
        rest: list[Partition] = []
        turn = 0
        for tp in left:
            place = self.near(tp, self.under, turn)
            if place >= 0:
                turn = self.deal_to_under(tp, place)
            elif (place := self.near(tp, self.exact, 0)) >= 0:
                if self.give(tp, self.exact[place]) == self.high:
                    del self.exact[place]
                    self.count_over()
            else:
                rest.append(tp)
        return rest

    def deal_to_under(self, tp: Partition, place: int) -> int:
        name = self.under[place]
        size = self.give(tp, name)
        if size < self.low:
            place += 1
        else:
            del self.under[place]
            if size < self.high and self.over < self.expected:
                self.exact.append(name)
        return place % len(self.under) if self.under else 0

    def deal_in_turn(self, left: Iterable[Partition]) -> None:
        at = 0
        for tp in left:
            at = at if at < len(self.under) else 0
            if not self.under and not self.exact:
                raise Thrown("IllegalStateException")
            name = self.under[at] if self.under else self.exact.pop(0)
            size = self.give(tp, name)
            if size == self.low:
                del self.under[at]
                self.exact.append(name)
            else:
                at += 1
                self.over += size == self.high


def all_of(replicas: Mapping[str, Sequence[object]]) -> list[Partition]:
    return [(topic, p) for topic, rows in replicas.items() for p in range(len(rows))]


def by_topic(tp: Partition) -> tuple[bytes, int]:
    return utf16_order(tp[0]), tp[1]


def without(everything: list[Partition], taken: list[Partition]) -> list[Partition]:
    """Both are sorted alike; a taken one that is nowhere stops the comparison, as Kafka's does."""
    left: list[Partition] = []
    at = 0
    for tp in everything:
        if at < len(taken) and taken[at] == tp:
            at += 1
        else:
            left.append(tp)
    return left


class General:
    """Subscriptions differ: everything left is given to the emptiest, then partitions are moved until it is even."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.lists = group.owned
        self.readers: dict[str, list[str]] = {topic: [] for topic in group.replicas}
        self.topics: dict[str, list[str]] = {}
        for name, member in group.members.items():
            self.topics[name] = [topic for topic in member["topics"] if topic in group.replicas]
            for topic in self.topics[name]:
                self.readers[topic].append(name)
        self.holder = {tp: name for name in self.lists for tp in self.lists[name]}
        by_readers = sorted(group.replicas, key=lambda topic: (len(self.readers[topic]), utf16_order(topic)))
        self.all = [(topic, p) for topic in by_readers for p in range(len(group.replicas[topic]))]
        self.before: dict[Partition, str] = {}
        self.must_revoke = False
        self.moved: dict[str, dict[Pair, JavaHashSet[Partition]]] = {}
        self.move_of: dict[Partition, Pair] = {}
        self.moves = 0

    def find_previous(self) -> None:
        generation: dict[Partition, int] = {}
        for name in self.group.members:
            mine = self.group.generation[name]
            if mine < self.group.newest:
                for tp in self.group.claims[name]:
                    if tp not in generation or mine > generation[tp]:
                        generation[tp], self.before[tp] = mine, name

    def keep_owned(self) -> list[Partition]:
        retained: list[Partition] = []
        for name in self.lists:
            topics = self.group.members[name]["topics"]
            stay = [tp for tp in self.lists[name] if tp[0] in topics and not self.group.elsewhere(name, tp)]
            self.must_revoke |= len(stay) < len(self.lists[name])
            self.lists[name] = stay
            retained += stay
        return sorted(retained, key=lambda tp: (len(self.readers[tp[0]]), utf16_order(tp[0]), tp[1]))

    def ranked(self) -> list[str]:
        return sorted(self.active, key=lambda name: (len(self.lists[name]), utf16_order(name)))

    def room(self, name: str) -> int:
        topics = self.topics[name]
        counted = topics if len(topics) != len(self.group.replicas) else list(self.group.replicas)
        return sum(len(self.group.replicas[topic]) for topic in counted)

    def fill(self, partitions: Iterable[Partition], *, near: bool) -> list[Partition]:
        rest: list[Partition] = []
        for tp in partitions:
            for name in self.ranked():
                if tp[0] in self.topics[name] and not (near and self.group.elsewhere(name, tp)):
                    self.lists[name].append(tp)
                    self.holder[tp] = name
                    break
            else:
                rest.append(tp)
        return rest

    def build(self) -> JavaHashMap[str, list[Partition]]:
        self.find_previous()
        left = without(self.all, self.keep_owned())
        self.active = list(self.lists)
        fresh = not self.lists[self.ranked()[-1]]
        to_give = self.fill(left, near=True) if self.group.rack else left
        self.fill(to_give, near=False)
        shared = {topic for topic, readers in self.readers.items() if len(readers) >= 2}
        fixed: JavaHashMap[str, list[Partition]] = JavaHashMap(STRING)
        for name in self.in_order_of_topics():
            if len(self.lists[name]) >= self.room(name) and not any(tp[0] in shared for tp in self.lists[name]):
                fixed[name] = self.lists.pop(name)
        self.active = list(self.lists)
        before: JavaHashMap[str, list[Partition]] = JavaHashMap(STRING)
        for name in self.lists:
            before[name] = list(self.lists[name])
        if not self.must_revoke:
            self.rebalance([tp for tp in left if tp[0] in shared])
        changed = self.rebalance([tp for tp in self.all if tp[0] in shared])
        if not fresh and changed and score(self.lists) >= score(before):
            for name in list(self.lists):
                del self.lists[name]
            for name in before:
                self.lists[name] = before[name]
        for name in fixed:
            self.lists[name] = fixed[name]
        return self.lists

    def in_order_of_topics(self) -> Iterable[str]:
        """The members as the map of their topics is iterated, which was made as large as there are members."""
        sized: JavaHashMap[str, bool] = JavaHashMap(STRING, initial_capacity=len(self.group.members))
        for name in self.group.members:
            sized[name] = True
        return sized

    def size(self, name: str | None) -> int:
        if name is None or name not in self.lists:
            raise Thrown("NullPointerException")
        return len(self.lists[name])

    def is_balanced(self) -> bool:
        if not self.active:
            raise Thrown("NoSuchElementException")
        ranked = self.ranked()
        if self.size(ranked[0]) >= self.size(ranked[-1]) - 1:
            return True
        holder = {tp: name for name in self.lists for tp in self.lists[name]}
        for name in ranked:
            size = len(self.lists[name])
            if size == self.room(name):
                continue
            mine = set(self.lists[name])
            for topic in self.topics[name]:
                for p in range(len(self.group.replicas[topic])):
                    if (topic, p) not in mine and size + 1 < self.size(holder.get((topic, p))):
                        return False
        return True

    def rebalance(self, partitions: Sequence[Partition]) -> bool:
        changed = False
        while True:
            modified = False
            for tp in partitions:
                if self.is_balanced():
                    break
                if self.improve(tp):
                    modified = changed = True
            if not modified:
                return changed

    def improve(self, tp: Partition) -> bool:
        mine = self.holder[tp]
        previous = self.before.get(tp)
        if previous is not None and self.size(mine) > self.size(previous) + 1:
            self.move(tp, previous)
            return True
        there = self.group.racks_of.get(tp, set())
        readers = self.readers[tp[0]]
        rounds = [readers]
        if self.group.rack.get(mine) in there:
            rounds.insert(0, [reader for reader in readers if self.group.rack.get(reader) in there])
        for candidates in rounds:
            for reader in candidates:
                if self.size(mine) > self.size(reader) + 1:
                    self.move(tp, next(name for name in self.ranked() if tp[0] in self.topics[name]))
                    return True
        return False

    def move(self, tp: Partition, to: str) -> None:
        self.moves += 1
        if self.moves > 2_000:
            raise Thrown("AssignorNeverEnds")  # Java throws nothing: it goes on
        topic = tp[0]
        if topic in self.moved:
            source = self.move_of[tp][0] if tp in self.move_of else self.holder[tp]
            back = self.moved[topic].get((to, source))
            if back is not None:
                tp = next(iter(back))
        old = self.holder[tp]
        known = self.move_of.pop(tp, None)
        if known is not None:
            self.moved[topic][known].discard(tp)
            if not self.moved[topic][known]:
                del self.moved[topic][known]
            if not self.moved[topic]:
                del self.moved[topic]
        origin = known[0] if known is not None else old
        if known is None or origin != to:
            self.move_of[tp] = (origin, to)
            by_pair = self.moved.setdefault(topic, {})
            by_pair.setdefault((origin, to), JavaHashSet(TOPIC_PARTITION)).add(tp)
        discard(self.lists[old], tp)
        self.lists[to].append(tp)
        self.holder[tp] = to


def score(lists: Mapping[str, Sequence[Partition]]) -> int:
    sizes = [len(items) for items in lists.values()]
    return sum(abs(a - b) for i, a in enumerate(sizes) for b in sizes[:i])


def withhold(group: Group, lists: Mapping[str, list[Partition]]) -> None:
    """Take from each the partitions that another must give up first."""
    added: dict[Partition, str] = {}
    revoked: set[Partition] = set()
    for name in lists:
        owned, given = set(group.claims[name]), set(lists[name])
        added |= {tp: name for tp in lists[name] if tp not in owned}
        revoked |= owned - given
    for tp, name in added.items():
        if tp in revoked:
            discard(lists[name], tp)


def assign(
    members: Sequence[Mapping[str, Any]],
    replicas: Mapping[str, Sequence[Sequence[int]]],
    rack_of: Mapping[int, str | None],
    *,
    cooperative: bool,
) -> dict[str, list[Partition]]:
    """Member id → its partitions, in Kafka's order."""
    group = Group(members, replicas, rack_of, cooperative=cooperative)
    if group.all_equal:
        return Constrained(group).build(cooperative=cooperative)
    lists = General(group).build()
    if cooperative:
        withhold(group, lists)
    return dict(lists)
