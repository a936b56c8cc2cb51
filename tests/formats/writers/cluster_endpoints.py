"""The table of `kafka-cluster list-endpoints`."""

from collections.abc import Iterable, Sequence

from tests.formats.writers.broker_api_versions import BrokerHeader

_COLUMNS = ("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE")


_WIDTH_WITHOUT_NODES, _WIDTH_WITHOUT_RACKS = 100, 10


def write(rows: Iterable[BrokerHeader]) -> str:
    """Print the table as the tool does."""
    listed = list(rows)
    with_state = any(row.fenced is not None for row in listed)
    widths = (
        10,
        max([len(row.host) for row in listed], default=_WIDTH_WITHOUT_NODES),
        10,
        max([len(row.rack) for row in listed if row.rack is not None], default=_WIDTH_WITHOUT_RACKS),
        *((10,) if with_state else ()),
        15,
    )
    header = [name for name in _COLUMNS if with_state or name != "STATE"]
    lines = [header, *(_cells(row, with_state=with_state) for row in listed)]
    return "".join([_padded(cells, widths) + "\n" for cells in lines])


def _cells(row: BrokerHeader, *, with_state: bool) -> list[str]:
    state = ["fenced" if row.fenced else "unfenced"] if with_state else []
    return [str(row.id), row.host, str(row.port), "null" if row.rack is None else row.rack, *state, "broker"]


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join([cell.ljust(width) for cell, width in zip(cells, widths, strict=True)])
