"""The loads of all remaining brokers after the loss of each broker and of each rack: the whole table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, get_args

import numpy as np

from app.core.capacity.placed_traffic import LossChanges, changes_by_loss
from app.core.measures.losses import LossCounts, ReplicaStates, loss_counts
from app.core.model import NO_LEADER, NO_REPLICA, Float64s, Int32s, Int64s
from app.core.reassignment.resource_problem import MILLION, RESOURCES
from app.errors.every import ConflictingFields, FieldPath, Json, LimitExceeded, UnknownBroker, UnknownRack, suggestion
from app.formats.tables.loss_tables import LossRow, write_losses_csv
from app.services.bodies import AnswerRecord, Read, one_of
from app.services.plans import LossSelection
from app.services.reassignment.problem.brokers import Bools
from app.services.reassignment.problem.resources import in_unit
from app.services.reassignment.reports.loads import LoadReport
from app.services.reassignment.requests.parts import Limited

MOST_IN_A_FILE = 2_000_000
"""The most loads of a file: lost brokers and racks × brokers × resources."""
Path = Callable[[str], FieldPath]
_Found = tuple[LossChanges, int, Bools, LossCounts]
_NO_GROUP = -1


ResourceName = Annotated[str, one_of(get_args(Limited))]
Amount = Annotated[Json, Read(float, float)]


class OverLimit(AnswerRecord, schema="OverLimitDocument"):
    """A broker above the limit of a resource."""

    broker: int
    """Id of the broker."""
    resource: ResourceName
    """Resource that is limited."""
    value: Amount
    """Its load: bytes, bytes/s, vCPU or a count."""
    limit: Amount
    """The limit of the broker, in the same unit."""


class LossReport(AnswerRecord, schema="BrokerLossDocument"):
    """The loss of one broker or one rack. The first remaining replica in sync leads, in the order of the list."""

    lost_broker: int | None
    """Id of the lost broker; null if a rack is lost."""
    lost_rack: str | None
    """Name of the lost rack; null if a broker is lost."""
    offline_partitions: int
    """Number of partitions without a replica in sync to lead them."""
    elected_partitions: int
    """Number of partitions that get another leader."""
    reduced_partitions: int
    """Number of partitions that have fewer replicas."""
    unwritable_partitions: int | None
    """Number of partitions that are left with fewer in-sync replicas than `min.insync.replicas`; null if it is unknown
    for all partitions."""
    at_min_isr_partitions: int | None
    """Number of partitions that are left with exactly `min.insync.replicas` in-sync replicas; null likewise."""
    loads: dict[str, dict[ResourceName, float]]
    """By id of each remaining broker, its load of each resource: bytes, bytes/s, vCPU or a count."""
    over_limit: list[OverLimit]
    """Loads above a limit, or above the capacity if there is no limit, by broker id and resource."""


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """The loss of one broker, or of one rack.

    Parameters
    ----------
    offline : partitions without a replica in sync to lead them. elected : partitions with another leader.
    reduced : partitions with fewer replicas. unwritable, at_min_isr : as of `LossCounts`.
    places : (remaining,) int64 positions of remaining brokers. loads : (remaining, resources) int64.
    """

    lost_broker: int | None
    lost_rack: str | None
    offline: int
    elected: int
    reduced: int
    unwritable: int | None
    at_min_isr: int | None
    places: Int64s
    loads: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class LossTable:
    """The losses of a selection; their loads are computed block by block.

    Parameters
    ----------
    names : the resources, leaders among them. columns : their places in `RESOURCES`.
    stays : (brokers,) bool, brokers that are not removed. lost_brokers : positions. lost_racks : indices.
    """

    report: LoadReport
    names: tuple[str, ...]
    columns: tuple[int, ...]
    stays: Bools
    lost_brokers: tuple[int, ...]
    lost_racks: tuple[int, ...]

    def each(self) -> Iterator[Loss]:
        """Brokers by id, then racks by name."""
        ids = self.report.brokers.ids
        for place, loss in self._losses(self.lost_brokers, np.arange(len(ids), dtype=np.int32)):
            yield self._loss(int(ids[place]), None, loss)
        for rack, loss in self._losses(self.lost_racks, self.report.resources.rack_of):
            yield self._loss(None, self.report.rack_name(rack), loss)

    def of_losses(self) -> list[LossReport]:
        """The table, as an answer has it."""
        return [
            LossReport(
                lost_broker=loss.lost_broker,
                lost_rack=loss.lost_rack,
                offline_partitions=loss.offline,
                elected_partitions=loss.elected,
                reduced_partitions=loss.reduced,
                unwritable_partitions=loss.unwritable,
                at_min_isr_partitions=loss.at_min_isr,
                loads={
                    str(broker): {
                        name: in_unit(value, column)
                        for name, column, value in zip(self.names, self.columns, row, strict=True)
                    }
                    for broker, row in zip(self._ids(loss), loss.loads.tolist(), strict=True)
                },
                over_limit=[OverLimit.of(load) for load in self._loads(loss) if load.is_over],
            )
            for loss in self.each()
        ]

    def rows(self) -> Iterator[LossRow]:
        """The rows of a file: of each loss its counts, then the load of each remaining broker and resource."""
        for loss in self.each():
            for name in ("offline", "elected", "reduced", "unwritable", "at_min_isr"):
                yield LossRow(loss.lost_broker, loss.lost_rack, None, f"{name}_partitions", None, getattr(loss, name))
            yield from self._loads(loss)

    def _ids(self, loss: Loss) -> list[int]:
        ids: list[int] = self.report.brokers.ids[loss.places].tolist()
        return ids

    def _loads(self, loss: Loss) -> Iterator[LossRow]:
        for place, broker, row in zip(loss.places.tolist(), self._ids(loss), loss.loads.tolist(), strict=True):
            for name, column, value in zip(self.names, self.columns, row, strict=True):
                upper = self.report.upper(place, column)
                yield LossRow(
                    *(loss.lost_broker, loss.lost_rack, broker, name),
                    intact=in_unit(int(self.report.after[place, column]), column),
                    value=in_unit(value, column),
                    limit=in_unit(upper, column),
                    is_over=upper is not None and value > upper,
                )

    def _losses(self, lost: Sequence[int], group_of: Int32s) -> Iterator[tuple[int, _Found]]:
        """By lost group its changes, its row in them, the brokers that remain, and what it leaves in sync."""
        number_of = np.full(int(group_of.max(initial=_NO_GROUP)) + 1, _NO_GROUP, np.int32)
        number_of[list(lost)] = np.arange(len(lost))
        states = self._states()
        counts = loss_counts(states.losses_of(number_of[group_of], len(lost)), is_known=bool(states.min_isr.any()))
        for block in changes_by_loss(self.report.traffic, number_of[group_of], len(lost)):
            for row in range(len(block.offline)):
                group = lost[block.first + row]
                yield group, (block, row, self.stays & (group_of != group), counts[block.first + row])

    def _states(self) -> ReplicaStates:
        """The replicas of all partitions, of which the first in sync leads."""
        traffic, min_isr = self.report.traffic, self.report.resources.min_isr
        in_sync = traffic.in_sync & (traffic.replicas != NO_REPLICA)
        leaders = np.where(in_sync.any(axis=1), in_sync.argmax(axis=1), NO_LEADER).astype(np.int32)
        return ReplicaStates(traffic.replicas, in_sync, leaders, np.repeat(min_isr, np.diff(traffic.bounds)))

    def _loss(self, broker: int | None, rack: str | None, found: _Found) -> Loss:
        block, row, remains, counts = found
        places = np.flatnonzero(remains)
        sent, received, leaders = (of[row, places] for of in (block.sent, block.received, block.leaders))
        return Loss(
            lost_broker=broker,
            lost_rack=rack,
            offline=int(block.offline[row]),
            elected=int(block.elected[row]),
            reduced=int(block.reduced[row]),
            unwritable=counts.unwritable,
            at_min_isr=counts.at_min_isr,
            places=places,
            loads=self.report.after[np.ix_(places, np.array(self.columns))] + self._added(sent, received, leaders),
        )

    def _added(self, sent: Float64s, received: Float64s, leaders: Float64s) -> Int64s:
        """(remaining, resources) int64: stored bytes stay."""
        model, nothing = self.report.resources.cpu_model, np.zeros(len(sent))
        by_name = {
            "nic_in": received,
            "nic_out": sent,
            "cpu": MILLION * (model.per_byte_out * sent + model.per_byte_in * received),
            "leaders": leaders,
        }
        return np.rint(np.stack([by_name.get(name, nothing) for name in self.names], axis=1)).astype(np.int64)


def loss_table(report: LoadReport, selection: LossSelection, *, most: int, path: Path) -> LossTable:
    """The table of a selection.

    Parameters
    ----------
    most : the most loads that it may have. path : from `brokers` or `racks` to the field that selects them.

    Raises
    ------
    UnknownBroker, UnknownRack : a selected one does not exist, or is removed. ConflictingFields : it is listed twice.
    LimitExceeded : the table has more loads.
    """
    brokers, named = report.brokers, report.resources.racks
    stays = ~brokers.is_removed
    place_of: dict[int | str, int] = {
        broker: place for place, broker in enumerate(brokers.ids.tolist()) if stays[place]
    }
    rack_of: dict[int | str, int] = {
        name: rack for rack, name in enumerate(named) if (report.resources.rack_of[stays] == rack).any()
    }
    names = (*(name for name in report.names if name != "leaders"), "leaders")
    table = LossTable(
        report=report,
        names=names,
        columns=tuple(RESOURCES.index(name) for name in names),
        stays=stays,
        lost_brokers=tuple(place_of.values())
        if selection.is_of_all
        else tuple(_selected(selection.brokers or (), place_of, UnknownBroker, "broker", path("brokers"))),
        lost_racks=tuple(rack_of.values())
        if selection.is_of_all
        else tuple(_selected(selection.racks or (), rack_of, UnknownRack, "rack", path("racks"))),
    )
    lost = len(table.lost_brokers) + len(table.lost_racks)
    number = lost * int(np.count_nonzero(stays)) * len(names)
    if number > most:
        raise LimitExceeded(
            f"{lost} losses × {np.count_nonzero(stays)} brokers × {len(names)} resources are {number} loads, more than "
            f"the limit of {most}; name the brokers and racks that are lost",
            path=path("brokers")[:1],
            limit_name="loads of losses",
            limit=most,
            value=number,
        )
    return table


def losses_file(report: LoadReport, selection: LossSelection) -> bytes:
    """The table as CSV. Raises as `loss_table` does."""
    parameters: Mapping[str, FieldPath] = {"brokers": ("lost_broker",), "racks": ("lost_rack",)}
    return write_losses_csv(loss_table(report, selection, most=MOST_IN_A_FILE, path=parameters.__getitem__).rows())


def _selected(
    chosen: Sequence[int | str],
    known: Mapping[int | str, int],
    failure: type[UnknownBroker | UnknownRack],
    noun: str,
    path: FieldPath,
) -> Iterator[int]:
    for position, one in enumerate(chosen):
        if one not in known:
            near = suggestion(one, [name for name in known if isinstance(name, str)]) if isinstance(one, str) else ""
            raise failure(f"there is no {noun} {one} that could be lost{near}", path=(*path, position), value=one)
        if one in chosen[:position]:
            raise ConflictingFields(f"{noun} {one} is listed twice", path=(*path, position), value=one)
        yield known[one]
