"""Current, added and removed brokers of a reassignment, indexed by position."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from app.core.model import Bools, Broker, Cluster, Int32s, Int64s, cordoned_brokers
from app.core.reassignment.parts import balanced
from app.core.replicas.options import RackMode, brokers_without_rack
from app.errors import every as errors
from app.errors.every import FieldPath, suggestion
from app.services.cautions import Caution, caution
from app.services.reassignment.requests.request import ReassignmentRequest

NAMED_BROKERS = 20
"""How many brokers a text or a problem names."""


@dataclass(frozen=True, slots=True, eq=False)
class BrokerTable:
    """Every broker that has or may get a replica, by ascending id; the index is the solvers' position.

    Parameters
    ----------
    known : with their racks; an offline broker that is not listed has none. added : the new ones among them.
    requested : the added ones, with any of `add_brokers` that the cluster has already.
    rack_of : (brokers,) int32 indices of racks, as in `MovementProblem`. racks : the names of the first of them;
        an offline broker of unknown rack gets a singleton rack beyond these.
    listed_racks : the number of racks before the change; 0 if racks do not count.
    is_removed : (brokers,) bool, removed brokers, including replaced ones. is_replaced : replaced ones alone.
    is_offline : fenced, or down. is_unplaced : of unknown rack. is_forbidden : may receive no new replica, as the
        request lists them; is_no_receiver : the same for brokers that are not among its receivers.
    is_cordoned : all their log directories are cordoned, so that Kafka assigns no new replica to them (KIP-1066).
    successor_of : (brokers,) int32 position of each broker's successor; its own if it is not replaced.
    """

    known: tuple[Broker, ...]
    added: tuple[Broker, ...]
    requested: tuple[Broker, ...]
    ids: Int32s = field(repr=False)
    rack_of: Int32s = field(repr=False)
    racks: tuple[str, ...]
    listed_racks: int
    is_removed: Bools = field(repr=False)
    is_replaced: Bools = field(repr=False)
    is_offline: Bools = field(repr=False)
    is_unplaced: Bools = field(repr=False)
    is_forbidden: Bools = field(repr=False)
    is_no_receiver: Bools = field(repr=False)
    is_cordoned: Bools = field(repr=False)
    successor_of: Int32s = field(repr=False)
    cautions: tuple[Caution, ...] = ()

    @property
    def may_receive(self) -> Bools:
        """(brokers,) bool, brokers that may receive replicas."""
        closed = self.is_forbidden | self.is_no_receiver | self.is_cordoned
        return ~(self.is_removed | self.is_offline | closed)

    def balanced(self, loads: Int64s, among: Bools, weights: Int64s | None, below: Fraction) -> Bools:
        """(brokers,) bool, as of `parts.balanced`: those whose loads are balanced among some brokers.

        Parameters
        ----------
        among : (brokers,) bool. weights : (brokers,) int64; None is 1 each.
        """
        weight = np.ones_like(loads) if weights is None else weights
        return balanced(loads, among & ~(self.is_removed | self.is_offline), self.may_receive, weight, below)

    def floor_cap(self, loads: Int64s, inside: Bools, target: Bools) -> Int64s | None:
        """As of `MovementProblem`: these loads of the brokers inside that stay and are no target."""
        stays = inside & ~(target | self.is_removed | self.is_offline)
        return np.where(stays, loads, -1) if stays.any() else None

    @property
    def stay(self) -> tuple[Broker, ...]:
        """The brokers that are not removed."""
        return tuple(broker for broker, leaves in zip(self.known, self.is_removed, strict=True) if not leaves)

    def mask(self, ids: Collection[int]) -> Bools:
        """(brokers,) bool, the brokers of these ids."""
        return np.isin(self.ids, np.fromiter(ids, np.int64, len(ids)))

    def in_racks(self, racks: Collection[str]) -> Bools:
        """(brokers,) bool, the brokers of these racks."""
        return np.array([broker.rack in racks for broker in self.known], np.bool_)

    def named(self, mask: Bools) -> str:
        """The ids of some brokers for a text, `NAMED_BROKERS` at most."""
        ids = self.ids[mask].tolist()
        more = f" and {len(ids) - NAMED_BROKERS} more" if len(ids) > NAMED_BROKERS else ""
        return ", ".join(map(str, ids[:NAMED_BROKERS])) + more


def brokers_of(request: ReassignmentRequest, cluster: Cluster) -> BrokerTable:
    """Current, added and removed brokers, indexed by position.

    Raises
    ------
    UnknownBroker, BrokerExists, UnknownRack : named by the request. BrokersWithoutRack : racks are enforced.
    CordonedTarget : a cordoned broker is added, or replaces another.
    ConflictingFields : replicas of a rack are limited, and racks do not count.
    """
    listed = {broker.id: broker for broker in cluster.brokers}
    down = [Broker(broker) for broker in cluster.replica_holders().tolist() if broker not in listed]
    present = listed | {broker.id: broker for broker in down}
    requested, already = _added(request, present, listed)
    everyone = present | {broker.id: broker for broker in requested}
    _require_known(request, everyone)
    cordoned = cordoned_brokers(cluster) if request.cordoned_brokers is None else frozenset(request.cordoned_brokers)
    _require_uncordoned(request, cordoned)
    known = tuple(everyone[broker] for broker in sorted(everyone))
    ids = np.array([broker.id for broker in known], np.int32)
    down_ids = {broker.id for broker in down}
    listed_or_added = [broker for broker in known if broker.id not in down_ids]
    racks, cautions = _racks(request, listed_or_added)
    is_down = np.isin(ids, np.fromiter(down_ids, np.int64, len(down_ids)))
    is_replaced = np.isin(ids, np.fromiter(request.replace_brokers, np.int64, len(request.replace_brokers)))
    return BrokerTable(
        known=known,
        added=tuple(broker for broker in requested if broker.id not in present),
        requested=requested,
        ids=ids,
        rack_of=_rack_of(known, racks, is_down),
        racks=racks,
        listed_racks=len(racks),
        is_removed=is_replaced | np.isin(ids, np.array(request.remove_brokers, np.int64)),
        is_replaced=is_replaced,
        is_offline=is_down | np.array([broker.fenced for broker in known], np.bool_),
        is_unplaced=is_down & bool(racks),
        is_forbidden=np.isin(ids, np.array(request.forbid_brokers, np.int64)),
        is_no_receiver=_no_receivers(request, ids),
        is_cordoned=np.isin(ids, np.array(sorted(cordoned), np.int64)),
        successor_of=_successor_of(request, ids),
        cautions=(*cautions, *already, *_of_successors(request, everyone)),
    )


def with_removed_racks(request: ReassignmentRequest, cluster: Cluster) -> ReassignmentRequest:
    """The request with the listed brokers of `remove_racks` in `remove_brokers`.

    Raises `UnknownRack`, and `ConflictingFields` if a rack is listed twice, or such a broker is added or a successor.
    """
    of_rack: dict[str, list[int]] = {}
    for broker in cluster.brokers:
        if broker.rack is not None:
            of_rack.setdefault(broker.rack, []).append(broker.id)
    removed = list(request.remove_brokers)
    receivers = {broker for _, broker in _receivers(request)}
    for place, rack in enumerate(request.remove_racks):
        path = ("remove_racks", place)
        if rack in request.remove_racks[:place]:
            raise errors.ConflictingFields(f"rack {rack} is listed twice in remove_racks", path=path, value=rack)
        if rack not in of_rack:
            raise _unknown_rack(rack, of_rack, path)
        for broker_id in sorted(of_rack[rack]):
            if broker_id in receivers:
                detail = f"broker {broker_id} is to receive replicas, and its rack {rack} is removed"
                raise errors.ConflictingFields(detail, path=path, value=rack)
            if broker_id not in removed and broker_id not in request.replace_brokers:
                removed.append(broker_id)
    return replace(request, remove_brokers=removed)


def _added(
    request: ReassignmentRequest, present: Mapping[int, Broker], listed: Mapping[int, Broker]
) -> tuple[tuple[Broker, ...], list[Caution]]:
    """Added brokers by id, with a warning about those that are up already.

    A successor that is not listed is added in the rack of the broker that it replaces.
    """
    requested, already = [], []
    for place, broker in enumerate(request.add_brokers):
        current = present.get(broker.id)
        if current is None:
            requested.append(broker)
            continue
        path = ("add_brokers", place)
        if broker.id not in listed or current.fenced:
            detail = f"broker {broker.id} is to be added, and the cluster has one of that id, which is fenced or down"
            raise errors.BrokerExists(detail, path=(*path, "id"), value=broker.id)
        if broker.rack not in (None, current.rack):
            where = "in no rack" if current.rack is None else f"in the rack {current.rack}"
            detail = f"broker {broker.id} is to be added in the rack {broker.rack}, and it is up already, {where}"
            raise errors.BrokerExists(detail, path=(*path, "rack"), value=broker.rack)
        requested.append(replace(current, capacity=broker.capacity or current.capacity))
        already.append(broker.id)
    cautions = [caution("added_brokers_up", brokers=tuple(already))] if already else []
    named = {broker.id for broker in request.add_brokers} | set(present)
    on_paper = [
        Broker(new, present[old].rack)
        for old, new in request.replace_brokers.items()
        if new not in named and old in present
    ]
    return tuple(sorted((*requested, *on_paper), key=lambda broker: broker.id)), cautions


def _unknown_rack(rack: str, known: Collection[str], path: FieldPath) -> errors.UnknownRack:
    shown = ", ".join(sorted(known)[:NAMED_BROKERS]) or "none"
    detail = f"no broker is in the rack {rack}; the racks are {shown}{suggestion(rack, known)}"
    return errors.UnknownRack(detail, path=path, value=rack)


def _require_known(request: ReassignmentRequest, everyone: Mapping[int, Broker]) -> None:
    for path, broker in _named(request):
        if broker not in everyone:
            detail = f"there is no broker {broker} in the snapshot, nor is one added"
            raise errors.UnknownBroker(detail, path=path, value=broker)
    racks = {broker.rack for broker in everyone.values() if broker.rack is not None}
    for place, rack in enumerate(request.evacuate_leaders.racks):
        if rack not in racks:
            raise _unknown_rack(rack, racks, ("evacuate_leaders", "racks", place))
    for topic, preferred in request.preferred_racks.items():
        for place, rack in enumerate(preferred):
            if rack not in racks:
                raise _unknown_rack(rack, racks, ("preferred_racks", topic, place))


def _require_uncordoned(request: ReassignmentRequest, cordoned: Collection[int]) -> None:
    """Raise `CordonedTarget` if the request names a cordoned broker as one that is to receive replicas."""
    for path, broker in _receivers(request):
        if broker in cordoned:
            detail = (
                f"broker {broker} is to receive replicas, and all its log directories are cordoned; uncordon it first"
            )
            raise errors.CordonedTarget(detail, path=path, value=broker, cordoned=sorted(cordoned)[:NAMED_BROKERS])


def _no_receivers(request: ReassignmentRequest, ids: Int32s) -> Bools:
    """(brokers,) bool, brokers that are not among the receivers of the request, if it lists any."""
    if request.receivers is None:
        return np.zeros(len(ids), np.bool_)
    added = [broker.id for broker in request.add_brokers]
    receivers = added if request.receivers == "added" else request.receivers
    return ~np.isin(ids, np.array([*receivers, *request.replace_brokers.values()], np.int64))


def _receivers(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, int]]:
    for place, broker in enumerate(request.add_brokers):
        yield ("add_brokers", place, "id"), broker.id
    for old, new in request.replace_brokers.items():
        yield ("replace_brokers", str(old)), new


def _named(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, int]]:
    """Every broker that a request names, with the field."""
    for name in ("remove_brokers", "forbid_brokers", "cordoned_brokers", "receivers"):
        listed = getattr(request, name)
        for place, broker in enumerate(() if listed in (None, "added") else listed):
            yield (name, place), broker
    for old in request.replace_brokers:
        yield ("replace_brokers", str(old)), old
    for name, brokers in request.broker_sets.items():
        for place, broker in enumerate(brokers):
            yield ("broker_sets", name, place), broker
    for at, isolated in enumerate(request.isolate):
        for place, broker in enumerate(isolated.brokers):
            yield ("isolate", at, "brokers", place), broker
    for at, pin in enumerate(request.pins):
        for place, broker in enumerate(pin.replicas):
            yield ("pins", at, "replicas", place), broker
    for place, broker in enumerate(request.evacuate_leaders.brokers):
        yield ("evacuate_leaders", "brokers", place), broker


def _racks(request: ReassignmentRequest, brokers: Sequence[Broker]) -> tuple[tuple[str, ...], list[Caution]]:
    """The racks, none if racks do not count, with warnings. Raises `BrokersWithoutRack`, `ConflictingFields`."""
    counts_racks, cautions = _racks_count(request, brokers)
    if counts_racks:
        return tuple(sorted({broker.rack for broker in brokers if broker.rack is not None})), cautions
    if request.max_replicas_per_rack is not None:
        detail = "max_replicas_per_rack counts racks, and racks do not count, since brokers have none"
        raise errors.ConflictingFields(detail, path=("max_replicas_per_rack",), value=request.max_replicas_per_rack)
    return (), cautions


def _racks_count(request: ReassignmentRequest, brokers: Sequence[Broker]) -> tuple[bool, list[Caution]]:
    """Whether racks count, with warnings. Raises `BrokersWithoutRack`."""
    without = [broker for broker in brokers if broker.rack is None]
    if request.rack_mode is RackMode.DISABLED or len(without) == len(brokers):
        return False, []
    if not without:
        return True, []
    if request.rack_mode is RackMode.ENFORCED:
        failure = brokers_without_rack(brokers, "AdminOperationException")
        failure.path = _rackless(request, {broker.id for broker in without})
        raise failure
    rackless = tuple(broker.id for broker in without)
    return False, [caution("racks_ignored.mode", listed=len(brokers), brokers=rackless)]


def _rackless(request: ReassignmentRequest, without: Collection[int]) -> FieldPath:
    """The field of the request that adds a broker without a rack; the snapshot's, if that has one."""
    for place, broker in enumerate(request.add_brokers):
        if broker.id in without:
            return ("add_brokers", place, "rack")
    for old, new in request.replace_brokers.items():
        # The rack of one that is down is not known, and so neither is its successor's, unless that is listed.
        if new in without:
            return ("replace_brokers", str(old))
    return ("snapshot_id",)


def _rack_of(known: Sequence[Broker], racks: Sequence[str], is_down: Bools) -> Int32s:
    index_of = {rack: index for index, rack in enumerate(racks)}
    if not racks:
        return np.zeros(len(known), np.int32)
    rack_of = np.array([index_of.get(broker.rack or "", 0) for broker in known], np.int32)
    rack_of[is_down] = len(racks) + np.arange(int(is_down.sum()))
    return rack_of


def _successor_of(request: ReassignmentRequest, ids: Int32s) -> Int32s:
    """(brokers,) int32 position of the successor of each broker; its own if it is not replaced."""
    successor_of = np.arange(len(ids), dtype=np.int32)
    for old, new in request.replace_brokers.items():
        successor_of[np.searchsorted(ids, old)] = np.searchsorted(ids, new)
    return successor_of


def _of_successors(request: ReassignmentRequest, everyone: Mapping[int, Broker]) -> Iterator[Caution]:
    for old, new in request.replace_brokers.items():
        was, now = everyone[old].rack, everyone[new].rack
        if was is not None and now is not None and was != now:
            yield caution("replacement_in_another_rack", old=old, new=new, was=was, now=now, brokers=(old, new))
