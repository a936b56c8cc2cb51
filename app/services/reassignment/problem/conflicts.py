"""Why a request is refused: an irreducible infeasible subset (IIS) of its options, in words.

A deletion filter drops the options of the request that restrict placements, one after another: an option without which
the request is still refused is dropped, and what remains is irreducible. Whether a request is refused is decided by the
request itself without the dropped options: it is resolved, and placed as far as that decides it. Defaults of a request
depend on what it states, so that fewer options can restrict more; the filter is repeated until nothing can be dropped.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any, TypeAlias

from app.core.replicas.rack_modes import RackMode
from app.errors import FieldPath, Json
from app.errors.failure import Unprocessable
from app.errors.kafka import InvalidReplicationFactor
from app.errors.reassignments import BudgetBelowMinimum, NotFeasible, PinContradicted
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.requests.request import EvacuateRequest, ReassignmentRequest
from app.services.reassignment.requests.resources import LimitsRequest

FACTOR, MOST_PER_RACK, RACK_RULE, OFFLINE = "replication_factor", "max_replicas_per_rack", "rack_mode", "offline"
FIX_OFFLINE, MINIMUMS = "fix_offline_replicas", "min_leaders_per_broker"
NO_RECEIVERS = (OFFLINE, "cordoned", "forbid_brokers", "receivers")
"""Options by which brokers receive nothing, and keep what they have."""
LEFT = ("replace_brokers", "remove_racks", "remove_brokers", FIX_OFFLINE)
"""Options by which brokers keep nothing either."""
_OF_BROKERS: Mapping[str, tuple[object, str, str]] = {
    OFFLINE: (None, "are fenced or down", "brokers that are back"),
    "cordoned": ((), "are cordoned", "brokers that are uncordoned"),
    "forbid_brokers": ((), "are to receive nothing", "fewer of forbid_brokers"),
    "receivers": (None, "are not among the receivers", "more receivers"),
    "replace_brokers": ({}, "are replaced", "a successor that the rack rule has room for"),
    "remove_racks": ((), "are removed", "fewer of remove_racks, or brokers to add there"),
    "remove_brokers": ((), "are removed", "fewer of remove_brokers, or brokers to add there"),
    FIX_OFFLINE: (False, "are left, being down", "fix_offline_replicas false, or brokers that are back"),
}
"""By option the value of its field without it, in words what it says of brokers, and what lifts it."""
REFUSED = (NotFeasible, InvalidReplicationFactor, PinContradicted, BudgetBelowMinimum)
MOST_SECONDS = 10.0
"""After this time no further option is dropped; the subset is infeasible all the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """An option of the request that restricts placements, or what restricts them in any case, which has no path.

    Parameters
    ----------
    lifted_by : a change of the request that lifts it, in words.
    field, relaxed : the field of the request that states it, and its value without the option; no field if none does.
    """

    name: str
    path: FieldPath
    words: str
    lifted_by: str
    field: str
    relaxed: Callable[[ReassignmentRequest], Any]

    @property
    def pointer(self) -> str:
        """The JSON pointer of its path."""
        return "".join(f"/{part}" for part in self.path)


Groups: TypeAlias = Sequence[Sequence[Option]]
"""Options by what they are about. The filter tries to drop a whole group at once, and the first group first."""


def irreducible(groups: Groups, is_refused: Callable[[Sequence[Option]], bool]) -> list[Option]:
    """An irreducible infeasible subset of the options: without any one of them the rest is not refused.

    Parameters
    ----------
    groups : options that are refused together. is_refused : whether some options are.

    Complexity: O(k log n) calls of `is_refused` for k options in the subset and n in a group, and a call a group.
    """
    active = [option for group in groups for option in group]
    while True:
        number = len(active)
        for group in groups:
            active = _dropped(active, [option for option in group if option in active], is_refused)
        if len(active) == number:
            return active


def _dropped(
    active: list[Option], group: Sequence[Option], is_refused: Callable[[Sequence[Option]], bool]
) -> list[Option]:
    """The active options without those of the group that are not needed."""
    rest = [option for option in active if option not in group]
    if group and is_refused(rest):
        return rest
    if len(group) > 1:
        middle = len(group) // 2
        for half in (group[:middle], group[middle:]):
            active = _dropped(active, half, is_refused)
    return active


def explained(refused: Unprocessable, groups: Groups, attempt: Callable[[Sequence[Option]], object]) -> Unprocessable:
    """The failure of a refused request, with an irreducible conflict and what lifts it.

    Parameters
    ----------
    refused : with the path of the option that was found to conflict, if that is known.
    attempt : resolves the request without some options. Raises one of `REFUSED` if it is still refused; with any other
        failure it counts as not refused.
    """
    ends_s, every = monotonic() + MOST_SECONDS, [option for group in groups for option in group]

    def is_named(option: Option) -> bool:
        return option.path == refused.path or option.pointer == refused.context.get("contradicts")

    def failure_of(active: Sequence[Option]) -> Unprocessable | None:
        try:
            attempt([option for option in every if option not in active])
        except REFUSED as failure:
            return failure
        except Unprocessable:
            pass
        return None

    # What the failure names is dropped after the rest of the request, and what the request does not state at last.
    last = [
        sorted(group, key=is_named)
        for group in sorted(groups, key=lambda group: (any(not each.path for each in group), any(map(is_named, group))))
    ]
    found = irreducible(last, lambda active: monotonic() < ends_s and failure_of(active) is not None)
    conflict = sorted((option for option in every if option in found), key=lambda option: option.name == FACTOR)
    is_of_option = any(option.path == refused.path for option in conflict if option.path)
    failure = refused if is_of_option else failure_of(found) or refused
    if isinstance(failure, InvalidReplicationFactor):
        return failure
    if isinstance(failure, PinContradicted):  # places of other pins and options differ without the dropped ones
        pin = next(option for option in conflict if option.field == "pins")
        pointer = next((option.pointer for option in conflict if option.path and option is not pin), "")
        context = {**failure.context, "contradicts": pointer}
        return PinContradicted(failure.detail, path=(*pin.path, *failure.path[2:]), **context)
    return _listed(failure, conflict)


def _listed(failure: Unprocessable, conflict: Sequence[Option]) -> Unprocessable:
    """The failure with its conflict and what lifts it."""
    own: Any = failure.context.get("lifted_by", ())
    lifts = [option.lifted_by for option in conflict if option.path != failure.path]
    special = (option for option in conflict if option.name not in (FACTOR, RACK_RULE, MOST_PER_RACK))
    path = failure.path or next((option.path for option in (*special, *conflict)), ())
    words = [failure.detail if option.path and option.path == failure.path else option.words for option in conflict]
    documents: list[Json] = [
        {"constraint": option.name, "pointer": option.pointer, "detail": detail}
        for option, detail in zip(conflict, words, strict=True)
    ]
    lifted_by = list(dict.fromkeys([*own, *lifts] if failure.path else [*lifts, *own]))
    return type(failure)(
        failure.detail, path=path, **{**failure.context, "conflict": documents, "lifted_by": lifted_by}
    )


def without(request: ReassignmentRequest, options: Sequence[Option]) -> ReassignmentRequest:
    """The request without some options."""
    for option in options:
        if option.field:
            request = replace(request, **{option.field: option.relaxed(request)})
    if request.objective == "relieve" and request.limits == LimitsRequest():  # nothing is left to relieve
        return replace(request, objective="balance")
    return request


def excluded(request: ReassignmentRequest, brokers: BrokerTable) -> Mapping[str, Bools]:
    """By option, (brokers,) bool: the brokers that it excludes for all topics."""
    removed = brokers.is_removed & ~brokers.is_replaced
    return {
        OFFLINE: brokers.is_offline,
        "cordoned": brokers.is_cordoned,
        "forbid_brokers": brokers.is_forbidden,
        "receivers": brokers.is_no_receiver,
        "replace_brokers": brokers.is_replaced,
        "remove_racks": removed & brokers.in_racks(request.remove_racks),
        "remove_brokers": removed & brokers.mask(request.remove_brokers),
        FIX_OFFLINE: brokers.is_offline & request.fix_offline_replicas,
    }


def options_of(request: ReassignmentRequest, brokers: BrokerTable, *, lift_of_racks: str) -> Groups:
    """The options of a request that restrict placements, and what restricts them in any case.

    Parameters
    ----------
    request : as it is stated, with its removed racks.
    """
    factors = [
        _part(FACTOR, topic, f"topic {topic} is to have {factor} replicas of each partition", smaller_factor(topic))
        for topic, factor in request.replication_factor.items()
    ]
    single = [*of_brokers(request, brokers)]
    if (most := request.max_replicas_per_rack) is not None:
        words = f"a rack has {most} replica{'s' if most > 1 else ''} of a partition at most"
        single.append(_whole(MOST_PER_RACK, None, words, "a larger max_replicas_per_rack, or none"))
    if brokers.racks:
        words = f"each partition spans as many of the {len(brokers.racks)} racks as it has replicas"
        single.append(Option(RACK_RULE, (RACK_RULE,), words, lift_of_racks, RACK_RULE, _rackless))
    return [*_of_cluster(request)], [*_pins(request)], factors, *([option] for option in single)


def smaller_factor(topic: str) -> str:
    """What lifts a conflict about a topic, in words."""
    return f"a smaller replication factor of {topic}"


def _of_cluster(request: ReassignmentRequest) -> Iterator[Option]:
    """Options about all partitions, or all of a topic, together."""
    for name, limit in request.limits.stated().items():
        if not limit.soft:
            words, unlimited = f"no broker is above its limit of {name}", partial(_unlimited, name)
            yield Option(f"limits.{name}", ("limits", name), words, f"larger limits of {name}", "limits", unlimited)
    if (budget := request.max_moved_bytes) is not None:
        yield _whole("max_moved_bytes", None, f"{budget} bytes are moved at most", "a larger max_moved_bytes")
    for topic, minimum in request.min_leaders_per_broker.items():
        words = f"each broker leads {minimum} partitions of topic {topic} at least"
        yield _part(MINIMUMS, topic, words, f"a smaller minimum of {topic}")
    if request.preferred_racks:
        words = "leaders are in the first preferred rack that has a replica"
        yield _whole("preferred_racks", {}, words, "other preferred_racks")
    if request.evacuate_leaders != EvacuateRequest():
        words, lift = "brokers of evacuate_leaders lead no partition", "fewer brokers or racks in evacuate_leaders"
        yield _whole("evacuate_leaders", EvacuateRequest(), words, lift)


def _pins(request: ReassignmentRequest) -> Iterator[Option]:
    for at, pin in enumerate(request.pins):
        name = f"{pin.topic}-{pin.partition}"
        words = f"partition {name} is pinned to brokers {', '.join(map(str, pin.replicas))}"
        yield replace(_part("pins", pin, words, f"another pin of {name}"), path=("pins", at))


def of_brokers(request: ReassignmentRequest, brokers: BrokerTable) -> Iterator[Option]:
    """What limits the eligible brokers, in the order in which it is dropped."""
    options = {}
    for name, mask in excluded(request, brokers).items():
        default, words, lift = _OF_BROKERS[name]
        if mask.any():
            options[name] = _whole(name, default, f"brokers {brokers.named(mask)} {words}", lift)
    if OFFLINE in options:
        options[OFFLINE] = replace(options[OFFLINE], path=(), field="")
    if "cordoned" in options:
        path = () if request.cordoned_brokers is None else ("cordoned_brokers",)
        options["cordoned"] = replace(options["cordoned"], path=path, field="cordoned_brokers")
    yield from (options[name] for name in NO_RECEIVERS if name in options)
    for name in sorted(request.broker_sets):
        these = brokers.named(brokers.mask(request.broker_sets[name]))
        words = f"broker set {name} is brokers {these}: its topics are on them alone, and no other topic is"
        lift = f"other brokers in /broker_sets/{name}, or another set for the topic in topic_sets"
        yield replace(_part("broker_sets", name, words, lift), name=f"broker_sets/{name}")
    for at, isolated in enumerate(request.isolate):
        names, these = ", ".join(isolated.topics[:5]), brokers.named(brokers.mask(isolated.brokers))
        words = f"{names} may be on brokers {these} alone" + (", and no other topic is" * isolated.exclusive)
        option = _part("isolate", isolated, words, f"more brokers in /isolate/{at}/brokers")
        yield replace(option, name=f"isolate/{at}", path=("isolate", at, "brokers"))
    yield from (options[name] for name in LEFT if name in options)


def _whole(field: str, default: object, words: str, lift: str) -> Option:
    """A whole field, with its default."""
    return Option(field, (field,), words, lift, field, lambda _: default)


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
    return RackMode.DISABLED if request.max_replicas_per_rack is None else RackMode.SAFE
