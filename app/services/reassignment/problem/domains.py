"""Eligible brokers of each partition, as domains that many partitions share."""

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.domains import NoLegalPlacement as NoDomain
from app.core.reassignment.domains import PartitionKind, RackRule, find_domains
from app.core.reassignment.model import Domain
from app.core.replicas.options import RackMode
from app.errors import every as errors
from app.formats.syntax.quantities import first_of
from app.services.reassignment.problem.broker_sets import NO_SET, BrokerSets
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.problem import FACTOR, MOST_PER_RACK, RACK_RULE, Option, Relaxation, of_brokers
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.parts import PinRequest
from app.services.reassignment.requests.request import ReassignmentRequest, repaired_topics

NO_RACK = -1


def racks_of(
    request: ReassignmentRequest,
    brokers: BrokerTable,
    scope: PartitionScope,
    current: Int32s,
    eligible: Callable[[int], tuple[Bools, Bools]],
) -> Int64s:
    """(rows,) int64 rack of each partition of `placement`, `NO_RACK` of others.

    It is the rack in which the partition keeps the most replicas, of those with as many eligible brokers as it has
    replicas; of equal ones its first replica's, then the one whose brokers have the fewest such partitions. So
    as few replicas as possible move, and new partitions take the racks in turns.

    Parameters
    ----------
    current : (rows, widest) int32 positions. eligible : by index of a topic the brokers that may keep replicas, and
        those that may receive them.

    Raises
    ------
    ConflictingFields : racks do not count, and are not to be ignored then.
    """
    racks = np.full(len(current), NO_RACK, np.int64)
    if not request.placement or (request.rack_mode is RackMode.SAFE and not brokers.racks):
        return racks
    if not brokers.racks:
        detail = "placement in_rack needs the racks of brokers, and racks do not count, since brokers have none"
        raise errors.ConflictingFields(detail, path=("placement",))
    named = len(brokers.racks)
    led = np.zeros(named)
    for topic in np.flatnonzero([name in request.placement for name in scope.topics]).tolist():
        may_keep, may_receive = eligible(topic)
        for row in np.flatnonzero(scope.topic_of == topic).tolist():
            present = current[row][current[row] != NO_REPLICA]
            stays = np.zeros_like(may_keep)
            stays[present] = may_keep[present]
            kept, free = (
                np.bincount(brokers.rack_of[mask], minlength=named)[:named] for mask in (stays, stays | may_receive)
            )
            has_room = free >= scope.factors[row]
            is_first = np.arange(named) == (brokers.rack_of[present[0]] if len(present) else NO_RACK)
            # If no rack has capacity, the failure is reported of the largest one.
            order = (led / np.maximum(free, 1), ~is_first, -kept, -free * ~has_room.any(), ~has_room)
            racks[row] = np.lexsort(order)[0]
            led[racks[row]] += scope.factors[row]
    return racks


@dataclass(frozen=True, slots=True, eq=False)
class Domains:
    """Domains, and which of them each row has.

    Parameters
    ----------
    pins : by row, the positions of the brokers that it is pinned to, in their order.
    relaxed : constraints that were given up.
    """

    domains: tuple[Domain, ...]
    domain_of: Int32s = field(repr=False)
    pins: Mapping[int, Int64s]
    relaxed: tuple[Relaxation, ...] = ()


_NOT_ISOLATED = -1


class EligibleBrokers:
    """Eligible brokers of a topic's partitions, and the options that limit them."""

    def __init__(self, request: ReassignmentRequest, brokers: BrokerTable, sets: BrokerSets) -> None:
        self.sets = sets
        self._options = [*of_brokers(request, brokers)]
        self._none = np.zeros(len(brokers.ids), np.bool_)
        self._group_of = {name: at for at, isolated in enumerate(request.isolate) for name in isolated.topics}

    def group(self, topic: str, of_set: int) -> int:
        """The group of a topic, whose topics share their brokers: of the same set and of the same isolation."""
        return (self._group_of.get(topic, _NOT_ISOLATED) + 1) * (len(self.sets.names) + 1) + of_set + 1

    def set_of(self, group: int) -> int:
        """The index of the broker set of a group, or `NO_SET`."""
        return group % (len(self.sets.names) + 1) - 1

    def may_receive(self, group: int) -> Bools:
        """(brokers,) bool, brokers that may receive replicas."""
        excluded: Bools = np.logical_or.reduce([self._none, *(mask for _, mask in self._excluded(group))])
        return ~excluded

    def may_keep(self, group: int) -> Bools:
        """(brokers,) bool, brokers that may keep the replicas that they have."""
        masks = (mask for option, mask in self._excluded(group) if not option.keeps)
        excluded: Bools = np.logical_or.reduce([self._none, *masks])
        return ~excluded

    def excluded_by(self, group: int, position: int, *, has_replica: bool) -> Option | None:
        """The first option that excludes a broker, which may have a replica already."""
        excluded = (each for each, mask in self._excluded(group) if mask[position])
        return next((option for option in excluded if not (has_replica and option.keeps)), None)

    def _excluded(self, group: int) -> Iterator[tuple[Option, Bools]]:
        """The options about topics of a group, with the brokers that each excludes."""
        isolation, of_set = divmod(group, len(self.sets.names) + 1)
        own = {f"isolate/{isolation - 1}", f"broker_sets/{('', *self.sets.names)[of_set]}"}
        for option in self._options:
            if option.name in own or option.is_exclusive:
                yield option, ~option.brokers if option.name in own else option.brokers


def domains_of(
    request: ReassignmentRequest, brokers: BrokerTable, sets: BrokerSets, scope: PartitionScope, current: Int32s
) -> Domains:
    """Each row's domain.

    Parameters
    ----------
    current : (rows, widest) int32 positions, padded with `NO_REPLICA`, as `MovementProblem.current`.

    Raises
    ------
    NotFeasible, InvalidReplicationFactor, PinContradicted : unless conflicts are to be relaxed.
    """
    search = _Search(request, brokers, scope, current, EligibleBrokers(request, brokers, sets), {})
    pins = dict(search.pins())
    is_free = np.ones(len(current), np.bool_)
    is_free[list(pins)] = False
    free = np.flatnonzero(is_free)
    domains, of_free = search.of_rows(free)
    domain_of = np.empty(len(current), np.int32)
    domain_of[free] = of_free
    for place, row in enumerate(pins):
        domain_of[row] = len(domains) + place
    return Domains(
        domains=(*domains, *(_pinned(brokers, pin) for pin in pins.values())),
        domain_of=domain_of,
        pins={row: np.searchsorted(brokers.ids, np.array(pin.replicas, np.int32)) for row, pin in pins.items()},
        relaxed=tuple(Relaxation(constraint, detail) for (constraint, _), detail in search.relaxed.items()),
    )


@dataclass(slots=True, eq=False)
class _Kinds:
    """Kinds of partitions: those of a kind have the same requirements.

    Parameters
    ----------
    groups : of isolated topics, by kind. of_row : (free,) int32 indices.
    """

    kinds: list[PartitionKind]
    groups: list[int]
    of_row: Int32s

    @classmethod
    def of(
        cls, scope: PartitionScope, places: EligibleBrokers, free: Int64s, racks: Int64s, repaired: Set[str] | None
    ) -> "_Kinds":
        """The kinds of rows. racks : (free,) int64, as of `racks_of`."""
        groups_of_topics = map(places.group, scope.topics, places.sets.of_topic.tolist())
        group = np.array(list(groups_of_topics), np.int64)[scope.topic_of[free]]
        factors = scope.factors[free].astype(np.int64)
        is_repaired = np.array([repaired is None or name in repaired for name in scope.topics], np.bool_)
        repairs = is_repaired[scope.topic_of[free]] | (racks != NO_RACK)
        key = (group * (int(factors.max(initial=0)) + 1) + factors) * 2 + repairs
        key = key * (int(racks.max(initial=NO_RACK)) + 2) + racks + 1
        _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
        groups = group[first].tolist()
        kinds = [
            PartitionKind(
                int(factors[row]),
                places.may_keep(one),
                places.may_receive(one),
                bool(repairs[row]),
                rack=None if racks[row] == NO_RACK else int(racks[row]),
            )
            for row, one in zip(first.tolist(), groups, strict=True)
        ]
        return cls(kinds, groups, of_row.astype(np.int32))

    def span(self, places: EligibleBrokers, of_set: int, racks: int) -> None:
        """Let the kinds of a broker set span `racks` racks."""
        for number, group in enumerate(self.groups):
            if places.set_of(group) == of_set:
                self.kinds[number] = replace(self.kinds[number], to_span=racks)

    def lower(self, number: int, factor: int, current: Int32s) -> Int64s:
        """Lower the factor of the rows of a kind that have no more eligible brokers than that; returns these rows.

        A broker that may only keep its replicas is eligible for the rows that it has.
        """
        kind, rows = self.kinds[number], np.flatnonzero(self.of_row == number)
        only_keeps = np.append(kind.may_keep & ~kind.may_receive, False)  # the last broker is the padding
        eligible = only_keeps[current[rows]].sum(axis=1) + np.count_nonzero(kind.may_receive)
        # Partitions in one rack have the brokers of that rack, and there are as many for all of them.
        short: Int64s = rows if kind.rack is not None else rows[eligible <= factor]
        self.of_row[short] = len(self.kinds)
        self.kinds.append(replace(kind, factor=factor))
        self.groups.append(self.groups[number])
        return short


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The search for the domains of a request. A conflict is rejected, or relaxed and noted.

    Parameters
    ----------
    current : (rows, widest) int32, as of `domains_of`. relaxed : by constraint and subject, the constraints
        relaxed so far, each once however many partitions it covers.
    """

    request: ReassignmentRequest
    brokers: BrokerTable
    scope: PartitionScope
    current: Int32s
    places: EligibleBrokers
    relaxed: dict[tuple[str, str], str]

    def of_rows(self, free: Int64s) -> tuple[tuple[Domain, ...], Int32s]:
        """The domains of rows without a pin, and the domain of each."""
        request, brokers, racks = self.request, self.brokers, len(self.brokers.racks)
        in_rack = racks_of(request, brokers, self.scope, self.current, self._eligible)[free]
        kinds = _Kinds.of(self.scope, self.places, free, in_rack, repaired_topics(request))
        rule = RackRule(max(racks, 1), request.max_replicas_per_rack, known=racks or None)
        if request.rack_mode is not RackMode.ENFORCED:
            self._span_what_is_left(kinds)
        current = self.current[free]
        while True:
            try:
                return find_domains(kinds.kinds, kinds.of_row, current, brokers.rack_of, rule)
            except NoDomain as short:
                group = kinds.groups[short.kind]
                if request.on_conflict == "refuse" or (short.what == "brokers" and short.there == 0):
                    raise self._refusal(short, group, int(free[short.row]), kinds.kinds[short.kind].factor) from None
                if short.what == "rack_places":
                    rule = replace(rule, most=None)
                self._relax(short, kinds, free)

    def _relax(self, short: NoDomain, kinds: _Kinds, free: Int64s) -> None:
        """Note the constraint that leaves no domain, and give it up in the kinds."""
        if short.what == "racks":
            of_set = self.places.set_of(kinds.groups[short.kind])
            kinds.span(self.places, of_set, short.there)
            words = f" of broker set {self.places.sets.names[of_set]}" if of_set != NO_SET else ""
            detail = f"partitions span the {short.there} racks that are left{words}"
            self.relaxed.setdefault((RACK_RULE, words), detail)
        elif short.what == "rack_places":
            most = self.request.max_replicas_per_rack
            self.relaxed[MOST_PER_RACK, ""] = f"racks have more than {most} replicas"
        else:
            lowered = kinds.lower(short.kind, short.there, self.current[free])
            for name in (self.scope.topics[at] for at in np.unique(self.scope.topic_of[free[lowered]])):
                detail = f"partitions of {name} have {short.there} replicas; {short.needed} have no room"
                self.relaxed.setdefault((FACTOR, name), detail)

    def _eligible(self, topic: int) -> tuple[Bools, Bools]:
        """The brokers that may keep replicas of a topic, and those that may receive them."""
        group = self.places.group(self.scope.topics[topic], int(self.places.sets.of_topic[topic]))
        return self.places.may_keep(group), self.places.may_receive(group)

    def _span_what_is_left(self, kinds: "_Kinds") -> None:
        """Let the partitions of each broker set span the racks in which all of them have eligible brokers."""
        racks = len(self.brokers.racks)
        by_set: dict[int, list[int]] = {}
        for kind, group in zip(kinds.kinds, kinds.groups, strict=True):
            if kind.rack is not None:
                continue
            usable = int(np.count_nonzero(brokers_by_rack(self.brokers, kind.may_receive)[:racks])) if racks else 1
            by_set.setdefault(self.places.set_of(group), []).append(usable)
        for of_set, usable_racks in by_set.items():
            kinds.span(self.places, of_set, max(min(usable_racks), 1))

    def _refusal(
        self, short: NoDomain, group: int, row: int, factor: int
    ) -> errors.InvalidReplicationFactor | errors.NotFeasible:
        """The failure of a row of a group whose partitions have a number of replicas."""
        brokers, request = self.brokers, self.request
        topic = self.scope.topics[self.scope.topic_of[row]]
        if factor > len(brokers.known):
            return errors.InvalidReplicationFactor(
                f"replication factor {factor} on topic {topic} needs {factor} brokers; {len(brokers.known)} exist",
                kafka=errors.KafkaError("InvalidReplicationFactorException"),
                path=(FACTOR, topic) if topic in request.replication_factor else (),
                value=factor,
                limit=len(brokers.known),
            )
        of_set = "" if (at := self.places.set_of(group)) == NO_SET else f" of broker set {self.places.sets.names[at]}"
        what = f"factor {factor} on topic {topic}{of_set}" + " in one rack" * (topic in request.placement)
        is_current = np.isin(np.arange(len(brokers.ids)), self.current[row])
        free = brokers_by_rack(brokers, self.places.may_receive(group) | (is_current & self.places.may_keep(group)))
        detail = f"{short.needed} brokers are needed for {what}; {short.there} may have it"
        racks = f"{short.there} {'is' if short.there == 1 else 'are'} left{self._without_brokers(free)}"
        if short.what == "racks":
            detail = f"{short.needed} racks are needed for {what}; {racks}"
        elif short.what == "rack_places":
            most = request.max_replicas_per_rack or factor
            a_rack = f"{most} replica{'s' if most > 1 else ''} a rack"
            if short.there == len(brokers.racks):
                racks = f"{short.there} {'exists' if short.there == 1 else 'exist'}"
            detail = f"{short.needed} racks are needed for {what} at {a_rack}; {racks}"
            if short.needed <= short.there:
                detail = f"{a_rack} allow {int(np.minimum(free, most).sum())} replicas; {what} is requested"
        return errors.NotFeasible(detail, topic=topic, lifted_by=[f"a smaller replication factor of {topic}"])

    def _without_brokers(self, free: Int64s) -> str:
        """The racks without an eligible broker, in parentheses. free : (racks,) int64 eligible brokers."""
        brokers = self.brokers
        places = [place for place, count in enumerate(free[: len(brokers.racks)].tolist()) if not count]
        if not places:
            return ""
        named = first_of([brokers.racks[place] for place in places], 5)
        if brokers.is_removed[np.isin(brokers.rack_of, places)].all():
            return f" ({named} {'loses all its' if len(places) == 1 else 'lose all their'} brokers)"
        return f" (no broker of {named} may have it)"

    def pins(self) -> Iterator[tuple[int, PinRequest]]:
        """The pins that can hold.

        Raises `PinContradicted`, unless conflicts are relaxed.
        """
        places = self.places
        for row, at in self.scope.pins.items():
            pin = self.request.pins[at]
            topic = self.scope.topic_of[row]
            group = places.group(self.scope.topics[topic], int(places.sets.of_topic[topic]))
            for place, broker in enumerate(pin.replicas):
                position = int(np.searchsorted(self.brokers.ids, broker))
                option = places.excluded_by(group, position, has_replica=bool((self.current[row] == position).any()))
                if option is None:
                    continue
                detail = f"partition {pin.topic}-{pin.partition} is pinned to broker {broker}: {option.words}"
                if self.request.on_conflict == "refuse":
                    path: errors.FieldPath = ("pins", at, "replicas", place)
                    raise errors.PinContradicted(detail, path=path, value=broker, contradicts=option.pointer)
                self.relaxed["pins", f"{pin.topic}-{pin.partition}"] = f"the pin is dropped; {detail}"
                break
            else:
                yield row, pin


def brokers_by_rack(brokers: BrokerTable, may_have: Bools) -> Int64s:
    """(racks,) int64 eligible brokers of each rack."""
    return np.bincount(brokers.rack_of[may_have], minlength=int(brokers.rack_of.max(initial=0)) + 1)


def _pinned(brokers: BrokerTable, pin: PinRequest) -> Domain:
    """Exactly the pinned brokers: pins override the rack-spread constraint; the verifier reports the result."""
    mask = brokers.mask(pin.replicas)
    most = brokers_by_rack(brokers, mask).astype(np.int64)
    return Domain(len(pin.replicas), mask, mask, np.zeros_like(most), most)
