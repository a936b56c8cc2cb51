"""The charts of a sweep, from its scored scenarios, or from a sample of them if there are many."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from statistics import fmean
from typing import Any, TypeAlias

from app.services.sweeps import results
from app.services.sweeps.kinds import KINDS
from app.services.sweeps.results import ScenarioFilter
from app.store.database import UnitOfWork
from app.store.sweeps import Sweep
from app.web import charts
from app.web.pages import framed
from app.web.sweeps.view import SweepView
from app.web.words import measured

MOST_POINTS = 2_000
"""Scenarios that a chart draws; of more, every n-th by index."""
_SHOWN_AXES = 6
_UNDECIDED = ("group", "members_lost", "members_added", "seed")
"""Axes of circumstances, over which choices are averaged."""
_SIZES, GROWTH = ("topology.brokers_per_rack", "topology.racks"), "traffic.growth_per_month"
Row: TypeAlias = Mapping[str, Any]


def sample(uow: UnitOfWork, sweep: Sweep) -> list[Row]:
    """Scored scenarios by index: all of them, or `MOST_POINTS` at equal distances."""
    step = max(1, -(-sweep.scenarios // MOST_POINTS))
    rows = uow.sweeps.chosen(sweep.id, range(0, sweep.scenarios, step))
    return [row for _, row in rows if row.get("error") is None]


def compared(uow: UnitOfWork, sweep: Sweep, view: SweepView) -> charts.Spec:
    """Two figures of each scenario against each other, with the Pareto front if the kind has one."""
    front = results.front(uow, sweep.id) if KINDS[sweep.kind].ranking is not None else []
    places = {row["index"]: place for place, row in enumerate(front)}
    scenarios = {row["index"]: row for row in (*sample(uow, sweep), *front)}
    names = list(results.axes_of(KINDS[sweep.kind], sweep))[:_SHOWN_AXES]
    points = [
        _point(sweep, row, (view.x, view.y), names, _series(row, places)) | {"front": places.get(index)}
        for index, row in scenarios.items()
    ]
    tooltips = _tooltips((view.x, view.y), names)
    return charts.points(points, x=words(view.x), y=words(view.y), tooltips=tooltips, names=(view.x, view.y))


def _point(sweep: Sweep, row: Row, figures: tuple[str, str], names: Sequence[str], series: str) -> dict[str, Any]:
    """A scenario in a chart of two figures, with the values of some axes."""
    return {
        **{place: row.get(figure) for place, figure in zip("xy", figures, strict=True)},
        "series": series,
        "href": framed(f"/sweeps/{sweep.id}/scenarios/{row['index']}"),
        "scenario": row["index"],
        **{f"axis{number}": _text(row["axes"].get(name)) for number, name in enumerate(names)},
    }


def _tooltips(figures: tuple[str, str], names: Sequence[str]) -> dict[str, str]:
    titles = {place: words(figure) for place, figure in zip("xy", figures, strict=True)}
    return {"scenario": "scenario", **titles, **{f"axis{number}": words(name) for number, name in enumerate(names)}}


def fronts(uow: UnitOfWork, sweeps: Sequence[Sweep], x: str, y: str) -> charts.Spec:
    """The Pareto fronts of sweeps of one kind; of a kind without objective, samples of their scenarios."""
    is_ranked = KINDS[sweeps[0].kind].ranking is not None
    names = axes_of_all(sweeps)[:_SHOWN_AXES]
    points = [
        _point(sweep, row, (x, y), names, letter)
        for letter, sweep in zip("AB", sweeps, strict=True)
        for row in (results.front(uow, sweep.id) if is_ranked else sample(uow, sweep))
    ]
    tooltips = {"series": "of", **_tooltips((x, y), names)}
    return charts.fronts(points, x=words(x), y=words(y), tooltips=tooltips, names=(x, y), joined=is_ranked)


def axes_of_all(sweeps: Sequence[Sweep]) -> list[str]:
    """The names of the axes of any of the sweeps, in their order."""
    return list(dict.fromkeys(name for sweep in sweeps for name in results.axes_of(KINDS[sweep.kind], sweep)))


def over_axes(uow: UnitOfWork, sweep: Sweep, view: SweepView) -> charts.Spec:
    """The mean of a figure for each value of an axis, or each pair of values of two."""
    sums: dict[tuple[str, str], list[float]] = defaultdict(list)
    order: dict[str, tuple[int, float, str]] = {}
    for row in sample(uow, sweep):
        value = row.get(view.figure)
        if isinstance(value, int | float):
            x, y = (_shown(name, row["axes"].get(name)) for name in (view.axis, view.across))
            order |= {x: _order(_text(row["axes"].get(view.axis))), y: _order(_text(row["axes"].get(view.across)))}
            sums[x, y].append(float(value))
    pairs = sorted(sums, key=lambda pair: [order[text] for text in pair])
    cells = [{"x": x, "y": y, "value": fmean(sums[x, y])} for x, y in pairs]
    if not view.across:
        rows = [{"x": cell["x"], "y": cell["value"]} for cell in cells]
        return charts.bars(rows, x=words(view.axis), y=f"mean {words(view.figure)}")
    named = {"x": words(view.axis), "y": words(view.across), "value": f"mean {words(view.figure)}"}
    return charts.heat_map(cells, **named, order=sorted(order, key=order.__getitem__), name=view.figure)


def choices(uow: UnitOfWork, sweep: Sweep, view: SweepView) -> list[Row]:
    """Each choice of values of the axes that a person decides on, with the means of the two figures compared first.

    By the first figure, the least first; scenarios that are not feasible are left out. `index` is that of a scenario.
    """
    axes = [name for name in results.axes_of(KINDS[sweep.kind], sweep) if name not in _UNDECIDED]
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in sample(uow, sweep):
        if row.get("feasible") is not False and None not in (row.get(view.x), row.get(view.y)):
            rows[", ".join(f"{words(name)} {_shown(name, row['axes'].get(name))}" for name in axes)].append(row)
    means = [
        {"axes": text, "index": of[0]["index"], "scenarios": len(of)}
        | {figure: fmean(row[figure] for row in of) for figure in (view.x, view.y)}
        for text, of in rows.items()
    ]
    return sorted(means, key=itemgetter(view.x, view.y))


def distributed(uow: UnitOfWork, sweep: Sweep, view: SweepView) -> charts.Spec:
    """How a figure is distributed over all scenarios."""
    described = results.summary(uow, sweep.id, ScenarioFilter()).figures.get(view.figure)
    edges, counts = ([], []) if described is None else (described.histogram.edges, described.histogram.counts)
    return charts.histogram(edges, counts, x=words(view.figure), y="scenarios")


def sizes(uow: UnitOfWork, sweep: Sweep) -> list[Row]:
    """The scenario of each number of brokers that lasts longest, the fewest brokers first.

    The other axes are as in the best scenario, if there is one, so that sizes alone are compared. Growth is an
    uncertainty to survive and not a choice: it is the largest of its axis.
    """
    best: Any = results.best(uow, sweep.id).best
    longest: dict[int, Row] = {}
    rows = sample(uow, sweep)
    fixed = {name: value for name, value in (best["axes"] if best else {}).items() if name not in _SIZES}
    if rows and GROWTH in rows[0]["axes"]:
        fixed[GROWTH] = max(row["axes"][GROWTH] for row in rows)
    for row in rows:
        if fixed.items() <= row["axes"].items():
            longest[row["brokers"]] = max(longest.get(row["brokers"], row), row, key=_lasting)
    return [longest[brokers] for brokers in sorted(longest)]


def _lasting(row: Row) -> float:
    month = row["first_breaking_month"]
    return float("inf") if month is None else month


def breaking(uow: UnitOfWork, sweep: Sweep, _: SweepView) -> charts.Spec:
    """The month in which each number of brokers reaches a limit; the month after the horizon if it lasts."""
    horizon = horizon_of(sweep)
    rows = [{"x": f"{row['brokers']}", "y": min(_lasting(row), horizon + 1)} for row in sizes(uow, sweep)]
    return charts.bars(rows, x="brokers", y="month in which a limit is reached", is_count=True)


def horizon_of(sweep: Sweep) -> int:
    """The months that a capacity sweep looks ahead."""
    base: Any = sweep.definition["base"]
    return int(base.get("traffic", {}).get("horizon_months", 24))


PLOTS: Mapping[str, Callable[[UnitOfWork, Sweep, SweepView], charts.Spec]] = {
    "compared": compared,
    "axes": over_axes,
    "distribution": distributed,
    "breaking": breaking,
}
"""The charts by the name that addresses have."""


def words(name: str) -> str:
    """The name of a figure or of an axis in words: `topics.*.replication_factor` is one of each topic."""
    if name in charts.SPECS["words"]:
        return str(charts.SPECS["words"][name])
    plain = name.rpartition(".")[2].replace("_per_s", "/s").replace("_", " ")
    return f"{plain} of each {name.partition('.')[0].removesuffix('s')}" if ".*." in name else plain


def _series(row: Row, front: Mapping[int, int]) -> str:
    if row["index"] in front:
        return "Pareto front"
    feasible = row.get("feasible")
    return "scenario" if feasible is None else "feasible" if feasible else "not feasible"


def _shown(name: str, value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return measured(name, value)
    return _text(value)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _order(text: str) -> tuple[int, float, str]:
    """Of an axis: numbers by size, then texts."""
    try:
        return (0, float(text), "")
    except ValueError:
        return (1, 0.0, text)
