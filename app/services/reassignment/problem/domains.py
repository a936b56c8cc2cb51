"""Eligible brokers of each partition, as domains that many partitions share."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment import Domain, PartitionKind, RackRule, find_domains
from app.core.reassignment import NoLegalPlacement as NoDomain
from app.core.replicas.rack_modes import RackMode
from app.errors import FieldPath
from app.errors.kafka import InvalidReplicationFactor
from app.errors.reassignments import NotFeasible, PinContradicted
from app.services.reassignment.problem.broker_sets import NO_SET, BrokerSets
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.conflicts import (
    FACTOR,
    MOST_PER_RACK,
    RACK_RULE,
    Demand,
    Requirement,
    brokers_by_rack,
    factor_demand,
    irreducible_conflict,
    refusal,
)
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.parts import PinRequest
from app.services.reassignment.requests.request import ReassignmentRequest, repaired_topics


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A constraint of the request that was given up."""

    constraint: str
    detail: str


class _Relaxations:
    """Constraints given up so far, each once however many partitions it is about."""

    def __init__(self) -> None:
        self._details: dict[tuple[str, str], str] = {}

    def add(self, constraint: str, about: str, detail: str) -> None:
        self._details.setdefault((constraint, about), detail)

    def listed(self) -> tuple[Relaxation, ...]:
        return tuple(Relaxation(constraint, detail) for (constraint, _), detail in self._details.items())


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
FIX_OFFLINE = "fix_offline_replicas"


class EligibleBrokers:
    """Eligible brokers of a topic's partitions, and the constraints that limit them."""

    def __init__(self, request: ReassignmentRequest, brokers: BrokerTable, sets: BrokerSets) -> None:
        self._request = request
        self._brokers = brokers
        self.sets = sets
        self._isolated = [brokers.mask(isolated.brokers) for isolated in request.isolate]
        self._group_of = {name: at for at, isolated in enumerate(request.isolate) for name in isolated.topics}
        self.demands = tuple(self._demands())
        self.everything = {demand.name for demand in self.demands}

    def group(self, topic: str, of_set: int) -> int:
        """The group of a topic, whose topics share their brokers: of the same set and of the same isolation."""
        return (self._group_of.get(topic, _NOT_ISOLATED) + 1) * (len(self.sets.names) + 1) + of_set + 1

    def set_of(self, group: int) -> int:
        """The index of the broker set of a group, or `NO_SET`."""
        return group % (len(self.sets.names) + 1) - 1

    def isolation_of(self, group: int) -> int:
        """The index of the isolation of a group, or `_NOT_ISOLATED`."""
        return group // (len(self.sets.names) + 1) - 1

    def may_receive(self, group: int, active: Set[str] | None = None) -> Bools:
        """(brokers,) bool, brokers that may receive replicas under these constraints; None is all of them."""
        constraints = self.everything if active is None else active
        eligible = self._allowed(group, constraints)
        for name, mask in self._exclusions():
            if name in constraints:
                eligible &= ~mask
        return eligible

    def may_keep(self, group: int, active: Set[str] | None = None) -> Bools:
        """(brokers,) bool, brokers that may keep the replicas that they have, under these constraints."""
        constraints = self.everything if active is None else active
        eligible = self._allowed(group, constraints)
        masks = dict(self._exclusions()) | {FIX_OFFLINE: self._brokers.is_offline}
        for name in ("replace_brokers", "remove_brokers", FIX_OFFLINE):
            if name in constraints:
                eligible &= ~masks[name]
        return eligible

    def _allowed(self, group: int, active: Set[str]) -> Bools:
        eligible = np.ones(len(self._brokers.ids), np.bool_)
        of_set, isolation = self.set_of(group), self.isolation_of(group)
        for name in self.sets.names:
            if f"broker_sets/{name}" not in active:
                continue
            index = self.sets.names.index(name)
            eligible &= self.sets.mask(index) if index == of_set else ~self.sets.mask(index)
        for at, isolated in enumerate(self._request.isolate):
            if f"isolate/{at}" not in active:
                continue
            if at == isolation:
                eligible &= self._isolated[at]
            elif isolated.exclusive:
                eligible &= ~self._isolated[at]
        return eligible

    def _exclusions(self) -> Iterator[tuple[str, Bools]]:
        brokers = self._brokers
        yield "offline", brokers.is_offline
        yield "cordoned", brokers.is_cordoned
        yield "forbid_brokers", brokers.is_forbidden
        yield "receivers", brokers.is_no_receiver
        yield "replace_brokers", brokers.is_replaced
        yield "remove_brokers", brokers.is_removed & ~brokers.is_replaced

    def _demands(self) -> Iterator[Demand]:
        """Constraints on eligible brokers; the deletion filter drops the first ones first, so implicit ones lead."""
        removal = "remove_racks" if self._request.remove_racks else "remove_brokers"
        texts = {
            "offline": ((), "are fenced or down", "brokers that are back"),
            "cordoned": ((), "are cordoned", "brokers that are uncordoned"),
            "forbid_brokers": (("forbid_brokers",), "are to receive nothing", "fewer of forbid_brokers"),
            "receivers": (("receivers",), "are not among the receivers", "more receivers"),
            "replace_brokers": (("replace_brokers",), "are replaced", "a successor that the rack rule has room for"),
            "remove_brokers": ((removal,), "are removed", f"fewer of {removal}, or brokers to add there"),
        }
        masks = dict(self._exclusions())
        for name in ("offline", "cordoned", "forbid_brokers", "receivers"):
            yield from self._demand(name, masks[name], *texts[name])
        for index, name in enumerate(self.sets.names):
            these = self._brokers.named(self.sets.mask(index))
            words = f"broker set {name} is brokers {these}: its topics are on them alone, and no other topic is"
            lift = f"other brokers in /broker_sets/{name}, or another set for the topic in topic_sets"
            yield Demand(f"broker_sets/{name}", ("broker_sets", name), words, lift)
        for at, isolated in enumerate(self._request.isolate):
            names, these = ", ".join(isolated.topics[:5]), self._brokers.named(self._isolated[at])
            words = f"{names} may be on brokers {these} alone" + (", and no other topic is" * isolated.exclusive)
            lift = f"more brokers in /isolate/{at}/brokers"
            yield Demand(f"isolate/{at}", ("isolate", at, "brokers"), words, lift)
        for name in ("replace_brokers", "remove_brokers"):
            yield from self._demand(name, masks[name], *texts[name])
        if self._request.fix_offline_replicas:
            lift = "fix_offline_replicas false, or brokers that are back"
            yield from self._demand(FIX_OFFLINE, masks["offline"], (FIX_OFFLINE,), "are left, being down", lift)
        if self._request.max_replicas_per_rack is not None:
            most = self._request.max_replicas_per_rack
            words = f"a rack has {most} replica{'s' if most > 1 else ''} of a partition at most"
            yield Demand(MOST_PER_RACK, (MOST_PER_RACK,), words, "a larger max_replicas_per_rack, or none")
        if self._request.rack_mode is RackMode.ENFORCED and self._brokers.racks:
            words = f"each partition spans as many of the {len(self._brokers.racks)} racks as it has replicas"
            yield Demand(RACK_RULE, (RACK_RULE,), words, '"rack_mode": "safe", which takes the racks that are left')

    def _demand(self, name: str, mask: Bools, path: tuple[str, ...], words: str, lift: str) -> Iterator[Demand]:
        if mask.any():
            yield Demand(name, path, f"brokers {self._brokers.named(mask)} {words}", lift)


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
    search = _Search(request, brokers, scope, current, EligibleBrokers(request, brokers, sets), _Relaxations())
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
        relaxed=search.relaxed.listed(),
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
        cls,
        scope: PartitionScope,
        places: EligibleBrokers,
        free: Int64s,
        repaired: Set[str] | None,
        *,
        active: Set[str] | None = None,
        factors: Int32s | None = None,
    ) -> "_Kinds":
        """The kinds of rows under some constraints; None is all, and the factors that the request states."""
        groups_of_topics = map(places.group, scope.topics, places.sets.of_topic.tolist())
        group = np.array(list(groups_of_topics), np.int64)[scope.topic_of[free]]
        factors = (scope.factors if factors is None else factors)[free].astype(np.int64)
        is_repaired = np.array([repaired is None or name in repaired for name in scope.topics], np.bool_)
        repairs = is_repaired[scope.topic_of[free]]
        key = (group * (int(factors.max(initial=0)) + 1) + factors) * 2 + repairs
        _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
        groups = group[first].tolist()
        kinds = [
            PartitionKind(
                int(factors[row]), places.may_keep(one, active), places.may_receive(one, active), bool(repairs[row])
            )
            for row, one in zip(first.tolist(), groups, strict=True)
        ]
        return cls(kinds, groups, of_row.astype(np.int32))

    def span(self, places: EligibleBrokers, of_set: int, racks: int) -> None:
        """Let the kinds of a broker set span so many racks."""
        for number, group in enumerate(self.groups):
            if places.set_of(group) == of_set:
                self.kinds[number] = replace(self.kinds[number], to_span=racks)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The search for the domains of a request. A conflict is rejected, or relaxed and noted.

    Parameters
    ----------
    current : (rows, widest) int32, as of `domains_of`. relaxed : what has been given up so far.
    """

    request: ReassignmentRequest
    brokers: BrokerTable
    scope: PartitionScope
    current: Int32s
    places: EligibleBrokers
    relaxed: _Relaxations

    def of_rows(self, free: Int64s) -> tuple[tuple[Domain, ...], Int32s]:
        """The domains of rows without a pin, and the domain of each."""
        request, brokers, relaxed = self.request, self.brokers, self.relaxed
        kinds = _Kinds.of(self.scope, self.places, free, repaired_topics(request))
        is_strict = request.rack_mode is RackMode.ENFORCED
        racks = len(brokers.racks)
        rule = RackRule(max(racks, 1), request.max_replicas_per_rack, known=racks or None)
        if not is_strict:
            self._span_what_is_left(kinds)
        current = self.current[free]
        while True:
            try:
                return find_domains(kinds.kinds, kinds.of_row, current, brokers.rack_of, rule)
            except NoDomain as short:
                requirement = self._requirement(kinds, short.kind, int(free[short.row]))
                if request.on_conflict == "refuse" or (short.what == "brokers" and short.there == 0):
                    raise self._refusal(free, requirement.topic) from None
                if short.what == "racks":
                    of_set = self.places.set_of(kinds.groups[short.kind])
                    kinds.span(self.places, of_set, short.there)
                    words = f" of broker set {self.places.sets.names[of_set]}" if of_set != NO_SET else ""
                    relaxed.add(RACK_RULE, words, f"partitions span the {short.there} racks that are left{words}")
                elif short.what == "rack_places":
                    rule = replace(rule, most=None)
                    relaxed.add(MOST_PER_RACK, "", f"racks have more than {request.max_replicas_per_rack} replicas")
                else:
                    topic, needed = requirement.topic, short.needed
                    detail = f"partitions of {topic} have {short.there} replicas; {needed} have no room"
                    relaxed.add(FACTOR, topic, detail)
                    kinds.kinds[short.kind] = replace(kinds.kinds[short.kind], factor=short.there)

    def _span_what_is_left(self, kinds: "_Kinds") -> None:
        """Let the partitions of each broker set span the racks in which all of them have eligible brokers."""
        racks = len(self.brokers.racks)
        by_set: dict[int, list[int]] = {}
        for kind, group in zip(kinds.kinds, kinds.groups, strict=True):
            usable = int(np.count_nonzero(brokers_by_rack(self.brokers, kind.may_receive)[:racks])) if racks else 1
            by_set.setdefault(self.places.set_of(group), []).append(usable)
        for of_set, usable_racks in by_set.items():
            kinds.span(self.places, of_set, max(min(usable_racks), 1))

    def _refusal(self, free: Int64s, topic: str) -> InvalidReplicationFactor | NotFeasible:
        """The failure with an irreducible conflict of the whole request.

        Parameters
        ----------
        free : rows that are placed without a pin.
        topic : a topic with a partition that cannot be placed. Other topics keep their current replication factors,
            since the conflict does not need the requested ones.
        """
        factor = [factor_demand(topic, self.request)] if topic in self.request.replication_factor else []
        names = irreducible_conflict(
            [demand.name for demand in (*factor, *self.places.demands)],
            lambda active: self._infeasible(free, topic, active) is None,
        )
        requirement = self._infeasible(free, topic, names)
        if requirement is None:
            raise RuntimeError("an irreducible conflict is infeasible")
        conflict = [demand for demand in (*self.places.demands, *factor) if demand.name in names]
        return refusal(requirement, self.brokers, conflict)

    def _infeasible(self, free: Int64s, topic: str, active: Set[str]) -> Requirement | None:
        """A requirement that is infeasible under these constraints alone; None if there is none."""
        scope, racks = self.scope, len(self.brokers.racks)
        now = np.count_nonzero(scope.before != NO_REPLICA, axis=1)
        of_topics = np.zeros(len(scope.topics), np.int64)
        np.maximum.at(of_topics, scope.topic_of, now)
        # A new partition has the factor of the others of its topic.
        now = np.where(now == 0, of_topics[scope.topic_of], now)
        is_stated = (now == 0) | ((scope.topic_of == scope.topics.index(topic)) & (FACTOR in active))
        factors = np.where(is_stated, scope.factors, now).astype(np.int32)
        kinds = _Kinds.of(scope, self.places, free, repaired_topics(self.request), active=active, factors=factors)
        most = self.request.max_replicas_per_rack if MOST_PER_RACK in active else None
        rule = RackRule(max(racks, 1) if RACK_RULE in active else 1, most, known=racks or None)
        current = self.current[free]
        try:
            find_domains(kinds.kinds, kinds.of_row, current, self.brokers.rack_of, rule)
        except NoDomain as short:
            return self._requirement(kinds, short.kind, int(free[short.row]))
        return None

    def _requirement(self, kinds: "_Kinds", number: int, row: int) -> Requirement:
        """The requirement of a row, which is of a kind."""
        group, kind = kinds.groups[number], kinds.kinds[number]
        return Requirement(
            topic=self.scope.topics[self.scope.topic_of[row]],
            factor=kind.factor,
            racks_to_span=min(kind.factor, len(self.brokers.racks)),
            of_set=None if (of_set := self.places.set_of(group)) == NO_SET else self.places.sets.names[of_set],
            most_per_rack=self.request.max_replicas_per_rack,
            may_have=partial(self._may_have, group, row),
        )

    def _may_have(self, group: int, row: int, active: Set[str] | None = None) -> Bools:
        """(brokers,) bool, brokers that may receive or keep a replica of a row under these constraints; None is all."""
        is_current = np.zeros(len(self.brokers.ids), np.bool_)
        is_current[self.current[row][self.current[row] != NO_REPLICA]] = True
        return self.places.may_receive(group, active) | (is_current & self.places.may_keep(group, active))

    def pins(self) -> Iterator[tuple[int, PinRequest]]:
        """The pins that can hold.

        Raises
        ------
        PinContradicted : a pin and one constraint conflict, unless conflicts are relaxed.
        NotFeasible, InvalidReplicationFactor : that constraint conflicts without the pin.
        """
        places = self.places
        position_of = {broker: place for place, broker in enumerate(self.brokers.ids.tolist())}
        for row, at in self.scope.pins.items():
            pin = self.request.pins[at]
            topic = self.scope.topic_of[row]
            group = places.group(self.scope.topics[topic], int(places.sets.of_topic[topic]))
            eligible = self._may_have(group, row)
            wrong = [(place, broker) for place, broker in enumerate(pin.replicas) if not eligible[position_of[broker]]]
            if not wrong:
                yield row, pin
                continue
            place, broker = wrong[0]
            position = position_of[broker]
            alone = (demand for demand in places.demands if not self._may_have(group, row, {demand.name})[position])
            contradicted = next(alone)
            detail = f"partition {pin.topic}-{pin.partition} is pinned to broker {broker}: {contradicted.words}"
            if self.request.on_conflict == "refuse":
                path: FieldPath = ("pins", at, "replicas", place)
                every_row = np.arange(len(self.current))
                if self._infeasible(every_row, self.scope.topics[topic], {"offline", contradicted.name}) is not None:
                    raise self._refusal(every_row, self.scope.topics[topic])  # the conflict does not need the pin
                contradicts = contradicted.as_json()["pointer"]
                raise PinContradicted(detail, path=path, value=broker, contradicts=contradicts)
            self.relaxed.add("pins", f"{pin.topic}-{pin.partition}", f"the pin is dropped; {detail}")


def _pinned(brokers: BrokerTable, pin: PinRequest) -> Domain:
    """Exactly the pinned brokers: pins override the rack-spread constraint; the verifier reports the result."""
    mask = brokers.mask(pin.replicas)
    most = brokers_by_rack(brokers, mask).astype(np.int64)
    return Domain(len(pin.replicas), mask, mask, np.zeros_like(most), most)
