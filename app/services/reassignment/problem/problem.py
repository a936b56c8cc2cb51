"""A change of a cluster with nothing left to look up; an irreducible infeasible subset (IIS) of a refused request.

A deletion filter drops the options of the request that restrict placements, one after another: an option without which
the request is still refused is dropped, and the rest is irreducible. Whether a request is refused is decided by the
request itself without the dropped options: it is resolved, and placed as far as that decides it. Defaults of a request
depend on its fields, so that fewer options can restrict more; the filter is repeated until nothing can be dropped.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from time import monotonic
from typing import Any, TypeAlias

import numpy as np

from app.core.kafka_versions import KafkaVersion
from app.core.measures.tally import Tally, tally
from app.core.model import Assignment, Int32s, LogDirectory
from app.core.reassignment.problem import Problem
from app.core.replicas.options import RackMode
from app.errors import FieldPath, Json
from app.errors.failure import Unprocessable
from app.errors.kafka import InvalidReplicationFactor
from app.errors.reassignments import BudgetBelowMinimum, NotFeasible, PinContradicted
from app.services.amounts import PricesRequest
from app.services.bodies import AnswerRecord
from app.services.cautions import Caution
from app.services.reassignment.problem.broker_sets import BrokerSets
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.loads import PartitionSizes
from app.services.reassignment.problem.log_dirs import StatedLogDirs
from app.services.reassignment.problem.resources import GroupReads, Resources
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.parts import LimitsRequest
from app.services.reassignment.requests.request import ReassignmentRequest

FACTOR, MOST_PER_RACK, RACK_RULE, OFFLINE = "replication_factor", "max_replicas_per_rack", "rack_mode", "offline"
FIX_OFFLINE, MINIMUMS = "fix_offline_replicas", "min_leaders_per_broker"
REFUSED = (NotFeasible, InvalidReplicationFactor, PinContradicted, BudgetBelowMinimum)
_DEFAULTS = ReassignmentRequest()
MOST_SECONDS = 10.0
"""After this time no further option is dropped; the subset is infeasible all the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """An option of the request that restricts placements, or a constraint in any case, which has no path.

    Parameters
    ----------
    lifted_by : a change of the request that lifts it, in words.
    stated_in, relaxed : the field of the request that states it, if one does, and its value without the option.
    brokers : (brokers,) bool, the excluded ones; of a broker set or an isolation the brokers of its topics.
    keeps : whether excluded brokers keep the replicas that they have. is_exclusive : whether other topics are excluded.
    """

    name: str
    path: FieldPath
    words: str
    lifted_by: str
    stated_in: str
    relaxed: Callable[[ReassignmentRequest], Any]
    brokers: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    keeps: bool = False
    is_exclusive: bool = True

    def explains_itself(self, failure: Unprocessable) -> bool:
        """Whether a failure is of this option, and states in its own words how to lift it."""
        return bool(self.path) and self.path == failure.path and "lifted_by" in failure.context

    def as_json(self, failure: Unprocessable) -> dict[str, Json]:
        """As the failure lists it."""
        words = failure.detail if self.explains_itself(failure) else self.words
        return {"constraint": self.name, "pointer": self.pointer, "detail": words}

    @property
    def pointer(self) -> str:
        """The JSON pointer of its path."""
        return "".join(f"/{part}" for part in self.path)


class Relaxation(AnswerRecord, schema="RelaxedConstraint"):
    """A constraint that was relaxed."""

    constraint: str
    """Name of the constraint."""
    detail: str
    """Why it was relaxed, in a sentence."""


_Exclusions: TypeAlias = Sequence[tuple[str, Bools, str, str]]
"""Names, (brokers,) bool, words, and the change that lifts each."""
Groups: TypeAlias = Sequence[Sequence[Option]]
"""Options by subject. The filter tries to drop a whole group at once, and the first group first."""


def irreducible(groups: Groups, is_refused: Callable[[Sequence[Option]], bool]) -> list[Option]:
    """An irreducible infeasible subset of the options: without any one of them the rest is not refused.

    Parameters
    ----------
    groups : options that are refused together. is_refused : whether they are without some of them.

    Complexity: O(k log n) calls of `is_refused` for k options in the subset and n in a group, and a call a group.
    """
    dropped: list[Option] = []

    def drop(group: Sequence[Option]) -> None:
        if group and is_refused([*dropped, *group]):
            dropped.extend(group)
        elif len(group) > 1:
            drop(group[: len(group) // 2])
            drop(group[len(group) // 2 :])

    number = -1
    while number < len(dropped):
        number = len(dropped)
        for group in groups:
            drop([option for option in group if option not in dropped])
    return [option for option in chain.from_iterable(groups) if option not in dropped]


def explained(refused: Unprocessable, groups: Groups, attempt: Callable[[Sequence[Option]], object]) -> Unprocessable:
    """The failure of a refused request, with an irreducible conflict and the changes that lift it.

    Parameters
    ----------
    refused : with the path of the option that was found to conflict, if that is known.
    attempt : resolves the request without some options. Raises one of `REFUSED` if it is still refused; with any other
        failure it counts as not refused.
    """
    ends_s, every = monotonic() + MOST_SECONDS, [*chain.from_iterable(groups)]

    def failure_of(dropped: Sequence[Option]) -> Unprocessable | None:
        try:
            attempt([option for option in every if option in dropped])
        except Unprocessable as failure:
            return failure if isinstance(failure, REFUSED) else None
        return None

    def is_refused(dropped: Sequence[Option]) -> bool:
        return monotonic() < ends_s and failure_of(dropped) is not None

    found = irreducible(_in_order(groups, refused), is_refused)
    conflict = sorted((option for option in every if option in found), key=lambda option: option.name == FACTOR)
    if refused.path not in [option.path for option in conflict if option.path]:
        refused = failure_of([option for option in every if option not in found]) or refused
    return _listed(refused, conflict)


def _in_order(groups: Groups, refused: Unprocessable) -> Groups:
    """Options that the failure names are dropped after the rest of the request, and unstated constraints at last."""

    def place(option: Option) -> tuple[bool, bool]:
        is_named = option.path == refused.path or option.pointer == refused.context.get("contradicts")
        return not option.path, is_named

    return sorted((sorted(group, key=place) for group in groups if group), key=lambda group: max(map(place, group)))


def _listed(failure: Unprocessable, conflict: Sequence[Option]) -> Unprocessable:
    """The failure with its conflict and the changes that lift it."""
    if isinstance(failure, InvalidReplicationFactor):
        return failure
    if isinstance(failure, PinContradicted):  # places of other pins and options differ without the dropped ones
        pin, *others = sorted((each for each in conflict if each.path), key=lambda each: each.stated_in != "pins")
        context = {**failure.context, "contradicts": others[0].pointer if others else ""}
        return PinContradicted(failure.detail, path=(*pin.path, *failure.path[2:]), **context)
    own: Any = failure.context.get("lifted_by", ())
    lifts = [option.lifted_by for option in conflict if not option.explains_itself(failure)]
    special = (option.path for option in conflict if option.name not in (FACTOR, RACK_RULE, MOST_PER_RACK))
    context = {
        **failure.context,
        "conflict": [option.as_json(failure) for option in conflict],
        "lifted_by": list(dict.fromkeys([*own, *lifts] if failure.path else [*lifts, *own])),
    }
    path = failure.path or next(special, conflict[0].path if conflict else ())
    return type(failure)(failure.detail, path=path, **context)


def without(request: ReassignmentRequest, options: Sequence[Option]) -> ReassignmentRequest:
    """The request without some options."""
    for option in options:
        if hasattr(request, option.stated_in):
            request = replace(request, **{option.stated_in: option.relaxed(request)})
    if request.objective == "relieve" and request.limits == LimitsRequest():  # nothing is left to relieve
        return replace(request, objective="balance")
    return request


def options_of(request: ReassignmentRequest, brokers: BrokerTable, *, lift_of_racks: str) -> Groups:
    """The options of a request that restrict placements, and the constraints in any case.

    Parameters
    ----------
    request : as it is stated, with its removed racks.
    """
    factors = [
        _part(
            FACTOR,
            topic,
            f"topic {topic} is to have {n} replicas of each partition",
            f"a smaller replication factor of {topic}",
        )
        for topic, n in request.replication_factor.items()
    ]
    single = [*of_brokers(request, brokers)]
    for topic in request.placement:
        words = f"the replicas of each partition of topic {topic} are in one rack"
        single.append(_part("placement", topic, words, f"topic {topic} in several racks"))
    if (most := request.max_replicas_per_rack) is not None:
        words = f"a rack has {most} replica{'s' if most > 1 else ''} of a partition at most"
        single.append(_whole(MOST_PER_RACK, words, "a larger max_replicas_per_rack, or none"))
    if brokers.racks:
        words = f"each partition spans as many of the {len(brokers.racks)} racks as it has replicas"
        single.append(Option(RACK_RULE, (RACK_RULE,), words, lift_of_racks, RACK_RULE, _rackless))
    return [*_of_cluster(request)], [*_pins(request)], factors, *([option] for option in single)


def _of_cluster(request: ReassignmentRequest) -> Iterator[Option]:
    """Options about all partitions, or all of a topic, together."""
    for name, limit in request.limits.stated().items():
        if not limit.soft:
            words, unlimited = f"no broker is above its limit of {name}", partial(_unlimited, name)
            yield Option(f"limits.{name}", ("limits", name), words, f"larger limits of {name}", "limits", unlimited)
    for topic, minimum in request.min_leaders_per_broker.items():
        words = f"each broker leads {minimum} partitions of topic {topic} at least"
        yield _part(MINIMUMS, topic, words, f"a smaller minimum of {topic}")
    for whole, words, lift in (
        ("copysets", "no partition is on a replica set that copysets does not allow", "copysets null"),
        ("max_moved_bytes", f"{request.max_moved_bytes} bytes are moved at most", "a larger max_moved_bytes"),
        ("preferred_racks", "leaders are in the first preferred rack that has a replica", "other preferred_racks"),
        ("evacuate_leaders", "brokers of evacuate_leaders lead no partition", "fewer of evacuate_leaders"),
    ):
        if getattr(request, whole) != getattr(_DEFAULTS, whole):
            yield _whole(whole, words, lift)


def _pins(request: ReassignmentRequest) -> Iterator[Option]:
    for at, pin in enumerate(request.pins):
        name = f"{pin.topic}-{pin.partition}"
        words = f"partition {name} is pinned to brokers {', '.join(map(str, pin.replicas))}"
        yield replace(_part("pins", pin, words, f"another pin of {name}"), path=("pins", at))


def of_brokers(request: ReassignmentRequest, brokers: BrokerTable) -> Iterator[Option]:
    """Options that limit the eligible brokers, in the order of dropping."""
    down, removed = brokers.is_offline, brokers.is_removed & ~brokers.is_replaced
    in_racks, listed = removed & brokers.in_racks(request.remove_racks), removed & brokers.mask(request.remove_brokers)
    left, lift = down & request.fix_offline_replicas, "fix_offline_replicas false, or brokers that are back"
    receive_nothing: _Exclusions = (
        (OFFLINE, down, "are fenced or down", "brokers that are back"),
        ("cordoned", brokers.is_cordoned, "are cordoned", "brokers that are uncordoned"),
        ("forbid_brokers", brokers.is_forbidden, "are to receive nothing", "fewer of forbid_brokers"),
        ("receivers", brokers.is_no_receiver, "are not among the receivers", "more receivers"),
    )
    leave: _Exclusions = (
        ("replace_brokers", brokers.is_replaced, "are replaced", "a successor that the rack rule has room for"),
        ("remove_racks", in_racks, "are removed", "fewer of remove_racks, or brokers to add there"),
        ("remove_brokers", listed, "are removed", "fewer of remove_brokers, or brokers to add there"),
        (FIX_OFFLINE, left, "are left, being down", lift),
    )
    yield from _excluding(request, brokers, receive_nothing, keeps=True)
    yield from _of_topics(request, brokers)
    yield from _excluding(request, brokers, leave)


def _excluding(
    request: ReassignmentRequest, brokers: BrokerTable, exclusions: _Exclusions, *, keeps: bool = False
) -> Iterator[Option]:
    """Options that exclude brokers for all topics."""
    for name, mask, words, lift in exclusions:
        of_field = "cordoned_brokers" if name == "cordoned" else name
        path = () if getattr(request, of_field, None) is None else (of_field,)
        if mask.any():
            option = _whole(of_field, f"brokers {brokers.named(mask)} {words}", lift)
            yield replace(option, name=name, path=path, brokers=mask, keeps=keeps)


def _of_topics(request: ReassignmentRequest, brokers: BrokerTable) -> Iterator[Option]:
    """Broker sets and isolations."""
    for name, listed in sorted(request.broker_sets.items()):
        mask = brokers.mask({*listed, *(new for old, new in request.replace_brokers.items() if old in listed)})
        words = (
            f"broker set {name} is brokers {brokers.named(mask)}: its topics are on them alone, and no other topic is"
        )
        lift = f"other brokers in /broker_sets/{name}, or another set for the topic in topic_sets"
        yield replace(_part("broker_sets", name, words, lift), name=f"broker_sets/{name}", brokers=mask)
    for at, isolated in enumerate(request.isolate):
        names, mask = ", ".join(isolated.topics[:5]), brokers.mask(isolated.brokers)
        words = f"{names} may be on brokers {brokers.named(mask)} alone"
        words += ", and no other topic is" * isolated.exclusive
        option = _part("isolate", isolated, words, f"more brokers in /isolate/{at}/brokers")
        path, is_exclusive = ("isolate", at, "brokers"), isolated.exclusive
        yield replace(option, name=f"isolate/{at}", path=path, brokers=mask, is_exclusive=is_exclusive)


def _whole(name: str, words: str, lift: str) -> Option:
    """A whole field. The default of cordoned brokers is the snapshot's."""
    return Option(
        name, (name,), words, lift, name, lambda _: () if name == "cordoned_brokers" else getattr(_DEFAULTS, name)
    )


def _part(field: str, part: object, words: str, lift: str) -> Option:
    """A key of a mapping, or an item of a sequence, which has another path."""
    return Option(field, (field, str(part)), words, lift, field, partial(_without_part, field, part))


def _without_part(field: str, part: object, request: ReassignmentRequest) -> object:
    value = getattr(request, field)
    if isinstance(value, Mapping):
        return {key: each for key, each in value.items() if key != part}
    return [each for each in value if each is not part]


def _unlimited(name: str, request: ReassignmentRequest) -> LimitsRequest:
    unlimited: dict[str, Any] = {name: None}
    return replace(request.limits, **unlimited)


def _rackless(request: ReassignmentRequest) -> RackMode:
    counts_racks = request.max_replicas_per_rack is not None or request.placement
    return RackMode.SAFE if counts_racks else RackMode.DISABLED


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReassignmentProblem(Problem):
    """The problem of a request, with the names of its rows and brokers, and data for the report.

    Parameters
    ----------
    sets : the broker sets. resources : loads of partitions on brokers. prices : of traffic across racks.
    reads : the partitions that groups of the snapshot read.
    log_dirs : the disks of replicas, and the field that states them.
    disk_path : the field that limits the disks of batches.
    directories : the log directories of the snapshot, by broker id.
    repaired : the topics whose partitions are repaired if they span too few racks; None if all are, if racks do not
        count, or if no replica may move.
    relaxed : constraints given up so far. constraints : in words, for the certificate.
    started_s : of the monotonic clock, in seconds.
    in_rack : topics of which all replicas of a partition are in one rack.
    bytes_per_replica : cost of each moved replica beside its bytes; None if replicas are minimised.
    subscriptions : by id of each group that rebalances when racks change, its topics.
    version : of Kafka.
    canonical : the request with nothing left to guess.
    options, without : the options of the request that restrict placements, and the problem without some of them, which
        raises as `resolve` does; the conflict of an infeasible problem is found by them.
    """

    brokers: BrokerTable
    scope: PartitionScope
    sizes: PartitionSizes
    sets: BrokerSets
    resources: Resources = field(repr=False)
    reads: GroupReads = field(repr=False)
    prices: PricesRequest | None
    log_dirs: StatedLogDirs | None
    disk_path: FieldPath
    directories: Mapping[int, Sequence[LogDirectory]] = field(repr=False)
    repaired: frozenset[str] | None
    relaxed: tuple[Relaxation, ...]
    constraints: tuple[str, ...]
    started_s: float
    in_rack: frozenset[str]
    bytes_per_replica: int | None
    subscriptions: Mapping[str, frozenset[str]] = field(repr=False)
    version: KafkaVersion
    canonical: dict[str, Json] = field(repr=False)
    options: Callable[[], Groups] = field(repr=False)
    without: Callable[[Sequence[Option]], "ReassignmentProblem"] = field(repr=False)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know about the brokers, the scope and the sizes."""
        of_log_dirs = () if self.log_dirs is None else self.log_dirs.cautions
        return (
            *self.brokers.cautions,
            *self.scope.cautions,
            *self.sets.cautions,
            *self.sizes.cautions,
            *self.resources.cautions,
            *of_log_dirs,
        )


def tally_of(problem: ReassignmentProblem, replicas: Int32s, *, is_before: bool = False) -> Tally:
    """The scope's partitions, (rows, widest) int32 broker ids, counted over the brokers afterwards, or before."""
    brokers, scope = problem.brokers, problem.scope
    offline = set(brokers.ids[brokers.is_offline].tolist())
    added = {broker.id for broker in brokers.added}
    listed = [broker for broker in brokers.known if broker.id not in added] if is_before else brokers.stay
    assignments = {
        name: Assignment(scope.partition_ids[start:stop], replicas[start:stop])
        for name, start, stop in zip(scope.topics, scope.starts[:-1].tolist(), scope.starts[1:].tolist(), strict=True)
        if start < stop
    }
    # A broker that is down serves as little as a fenced one.
    return tally(assignments, [replace(broker, fenced=broker.id in offline) for broker in listed])
