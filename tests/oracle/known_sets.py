"""The law of `copysets: no_new`: partitions stay on sets of brokers that the cluster has, with the least movement."""

from collections.abc import Iterable
from itertools import chain

from tests.oracle.bounds import cost_of
from tests.oracle.clusters import Document
from tests.oracle.exact import Replicas
from tests.oracle.examined import Examined
from tests.oracle.model import Model, Partition, faults, repairs_racks

_ALONE = {"copysets", "remove_brokers", "rack_mode", "repair_racks"}


def known_sets(examined: Examined, model: Model, after: Replicas) -> None:
    """No partition is on a set that none was on; if nothing else is requested, each copies the least on those."""
    request = examined.instance.request
    if request.get("copysets") != "no_new" or request.get("on_conflict") == "relax":
        return
    known = {frozenset(row.before) for row in model.partitions if row.before}
    listed = frozenset(chain.from_iterable(known))
    opened = [
        row.key
        for row in model.partitions
        if not row.is_pinned and listed.issuperset(after[row.key]) and frozenset(after[row.key]) not in known
    ]
    if not request.get("replace_brokers"):
        examined.hold("no set is opened", not opened, f"{opened} of {after}")
    if is_decided(request, model):
        least, moved = least_movement(model, request), examined.answer.document["certificate"]["moved_bytes"]
        examined.hold("moved is the exact least on known sets", moved == least, f"moved {moved}, exact {least}")


def is_decided(request: Document, model: Model) -> bool:
    """Whether nothing else restricts or balances the partitions, so that each is on a known set for itself."""
    is_alone = request.get("copysets") == "no_new" and request.keys() <= _ALONE
    listed = frozenset(chain.from_iterable(row.before for row in model.partitions))
    return is_alone and model.is_certain and model.has_known_sizes and listed >= model.brokers.staying


def least_movement(model: Model, request: Document) -> int | None:
    """The bytes that partitions copy at least, each on a known set that it may be on; None if one has none."""
    known = {frozenset(row.before) for row in model.partitions}
    costs = [_least(row, model, known, repairs=repairs_racks(request)) for row in model.partitions]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _least(row: Partition, model: Model, known: Iterable[frozenset[int]], *, repairs: bool) -> int | None:
    legal = [each for each in known if not faults(row, tuple(each), model.brokers, repairs=repairs)]
    return min((cost_of("bytes")(row) * len(each - {*row.before}) for each in legal), default=None)
