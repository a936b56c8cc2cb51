"""The loads of brokers in a plan, as CSV and as cells of tables: a row a broker and resource. These are ours.

    broker,resource,before,after,worst_broker_loss,lost_broker,worst_rack_loss,lost_rack,capacity,limit,headroom,potential
    108,nic_out,99587,81667,100112,107,120668,use1-az2,200000,,118333,144867

Unknown values are empty. Units are those of a plan: bytes, bytes/s, vCPU and counts.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.errors.quotation import escaped
from app.formats.syntax.quantities import byte_size, share
from app.formats.tables.topic_tables import csv_row, write_csv

Loads = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Loads by broker id and resource, as in the answer of a plan."""
NAMES: Mapping[str, str] = {
    "disk": "disk",
    "nic_in": "NIC in",
    "nic_out": "NIC out",
    "cpu": "vCPU",
    "replicas": "replicas",
    "leaders": "leaders",
}
HEAD = ("before", "after", "worst loss of a broker", "worst loss of a rack", "limit", "headroom", "potential")
"""The columns of `cells`, after the broker and the resource."""
_NOTHING = "–"
_COLUMNS = (
    *("broker", "resource", "before", "after", "worst_broker_loss", "lost_broker", "worst_rack_loss", "lost_rack"),
    *("capacity", "limit", "headroom", "potential"),
)


def write_loads_csv(loads: Loads) -> bytes:
    """One line a broker and resource under a header line."""
    return write_csv(_COLUMNS, (_line(*each) for each in _each(loads)))


def _line(broker: str, resource: str, load: Mapping[str, Any]) -> str:
    worst = load["after_worst_loss"]
    return csv_row(
        *(broker, resource, load["before"], load["after"]),
        *(worst["broker"], worst["lost_broker"], worst["rack"], worst["lost_rack"]),
        *(load["capacity"], load["limit"], load["headroom"], load.get("potential")),
    )


def cells(loads: Loads) -> list[tuple[str, str, list[str]]]:
    """The cells of `HEAD` by broker and resource, of loads that a table of replicas and bytes omits."""
    return [
        (broker, NAMES[resource], _cells(resource, load))
        for broker, resource, load in _each(loads)
        if not _is_plain(load)
    ]


def fullest(loads: Loads) -> list[str]:
    """For each resource with a limit or capacity, the broker that is nearest to it after the plan, in words."""
    worst: dict[str, tuple[float, str, Mapping[str, Any]]] = {}
    for broker, resource, load in _each(loads):
        upper = _upper(load)
        if upper:
            used = load["after"] / upper
            if resource not in worst or used > worst[resource][0]:
                worst[resource] = used, broker, load
    return [
        f"{NAMES[resource]}: broker {broker} has {amount(resource, load['after'])} of "
        f"{amount(resource, _upper(load))}, {share(used)}"
        for resource, (used, broker, load) in worst.items()
    ]


def amount(resource: str, value: float | None) -> str:
    """A load in words: bytes, bytes/s, vCPU or a count."""
    if value is None:
        return _NOTHING
    if resource in ("disk", "nic_in", "nic_out"):
        size = byte_size(abs(int(value)))
        return ("−" if value < 0 else "") + (size if resource == "disk" else f"{size}/s")
    return f"{value:,}"


def _each(loads: Loads) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for broker, by_resource in loads.items():
        for resource, load in by_resource.items():
            yield broker, resource, load


def _upper(load: Mapping[str, Any]) -> float | None:
    upper: float | None = load["capacity"] if load["limit"] is None else load["limit"]
    return upper


def _cells(resource: str, load: Mapping[str, Any]) -> list[str]:
    worst = load["after_worst_loss"]
    lost_rack = None if worst["lost_rack"] is None else escaped(worst["lost_rack"])
    figures = (load["before"], load["after"], worst["broker"], worst["rack"], _upper(load), load["headroom"])
    found = [amount(resource, figure) for figure in (*figures, load.get("potential"))]
    for column, lost in ((2, worst["lost_broker"]), (3, lost_rack)):
        if lost is not None:
            found[column] += f" (of {lost})"
    return found


def _is_plain(load: Mapping[str, Any]) -> bool:
    """Whether the table of brokers says as much: a load without a limit that no loss changes."""
    worst = load["after_worst_loss"]
    return _upper(load) is None and worst["broker"] == load["after"] and worst["rack"] in (None, load["after"])
