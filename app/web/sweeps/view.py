"""The state of a sweep's page, from its address."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from app.services.sweeps.kind import SweepKind
from app.services.sweeps.kinds import KINDS
from app.services.sweeps.results import BY_INDEX, axes_of
from app.store.sweeps import Sweep
from app.web.charts import SPECS

_FEASIBLE = ("", "true", "false")
TABS = {"": "Summary", "scenarios": "Scenarios", "charts": "Charts", "about": "About"}
"""The tabs of a sweep by the value of `tab` in the address, with their titles."""


@dataclass(frozen=True, slots=True)
class SweepView:
    """The state of a sweep's page.

    Parameters
    ----------
    x, y : the figures that are compared. axis, across : the axes of the heat map; `across` is empty if there is one.
    tab : of `TABS`.
    figure : of the heat map and the distribution. sort, descending, feasible, after : of the table; `after` is the
    figure and the index of the row before, as `figure,index`.
    """

    id: str
    x: str
    y: str
    axis: str
    across: str
    figure: str
    sort: str = BY_INDEX
    descending: bool = False
    feasible: str = ""
    after: str = ""
    tab: str = ""

    @classmethod
    def of(cls, sweep: Sweep, kind: SweepKind, query: dict[str, str]) -> "SweepView":
        """The view that an address asks for; unknown parts get the default."""
        numbers, axes = list(kind.numbers), list(axes_of(kind, sweep))
        axis = _known(query.get("axis"), axes, axes[:1])
        others = [name for name in axes if name != axis]
        compared = pair(sweep.kind, query.get("x"), query.get("y"))
        return cls(
            str(sweep.id),
            *compared,
            axis=axis,
            across=_known(query.get("across"), others, others[:1]),
            figure=_known(query.get("figure"), numbers, compared),
            sort=_known(query.get("sort"), [*numbers, BY_INDEX], [BY_INDEX]),
            descending=query.get("descending") == "1",
            feasible=_known(query.get("feasible"), _FEASIBLE, [""]) if kind.ranking is not None else "",
            after=query.get("after", ""),
            tab=_known(query.get("tab"), list(TABS), [""]),
        )

    @property
    def place(self) -> tuple[float | None, int] | None:
        """The row that the table continues after."""
        value, _, index = self.after.rpartition(",")
        try:
            return (None if value in ("", "null") else float(value), int(index)) if index else None
        except ValueError:
            return None

    @property
    def is_feasible(self) -> bool | None:
        """Only feasible scenarios, or only the others; None for all."""
        return self.feasible == "true" if self.feasible else None

    def file(self, table: str) -> str:
        """The address of all scenarios of the table, in its order, as a file."""
        query = self.query("sort", "feasible")
        return f"/sweeps/{self.id}/scenarios.{table}?{query}{'&descending=1' if self.descending else ''}"

    def showing(self, **changes: str | bool) -> str:
        """The address of the page with some fields changed; the table begins anew."""
        return replace(self, **{"after": "", **changes}).address  # type: ignore[arg-type] # the fields are of these types

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        query = self.query("x", "y", "axis", "across", "figure", "sort", "feasible", "after", "tab")
        return f"/sweeps/{self.id}?{query}{'&descending=1' if self.descending else ''}"

    def query(self, *fields: str) -> str:
        """The query of an address with these fields."""
        return urlencode([(field, value) for field in fields if (value := getattr(self, field))])


def pair(kind: str, x: str | None, y: str | None) -> tuple[str, str]:
    """The two figures that a chart compares: the requested ones, or those that the kind is compared by first."""
    numbers = list(KINDS[kind].numbers)
    first, second = SPECS["pairs"].get(kind, numbers[:2])
    return _known(x, numbers, [first]), _known(y, numbers, [second])


def _known(value: str | None, known: Sequence[str], default: Sequence[str]) -> str:
    return value if value is not None and value in known else next(iter(default), "")
