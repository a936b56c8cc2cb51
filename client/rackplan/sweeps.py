"""Sweeps: thousands of scenarios, scored by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

import rackplan.requests as fields
from rackplan import models, notebook
from rackplan.exchange import exchange, pages, path
from rackplan.exports import ARROW, Export, export_of
from rackplan.flows import Bound, Flow, Items, K, Request, iteration, operation
from rackplan.plans import AnyPlan, plan_of
from rackplan.resources import Resource, items_of_resource, of_resource
from rackplan.waiting import Progress, follow, wait

Definition: TypeAlias = (
    fields.CapacitySweepRequest
    | fields.DrawsSweepRequest
    | fields.GroupsSweepRequest
    | fields.KeySkewSweepRequest
    | fields.ReassignmentSweepRequest
)
_MEDIA_TYPES = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet", "arrow": ARROW}


class SweepOperations(Bound[K]):
    """Operations on sweeps."""

    @operation
    def create_sweep(self, definition: Definition) -> Flow[Sweep[K]]:
        """Start a sweep."""
        response = yield from exchange(self._client, Request("POST", path("sweeps"), json=definition))
        return Sweep(response.json(), self._client)

    @iteration
    def list_sweeps(
        self,
        *,
        kind: fields.ListSweepsKind | None = None,
        state: fields.ListSweepsState | None = None,
        page_size: int | None = None,
    ) -> Items[Sweep[K]]:
        """Iterate over sweeps, newest first.

        Parameters
        ----------
        page_size : how many are read at a time.
        """
        request = Request("GET", path("sweeps"), {"kind": kind, "state": state, "page_size": page_size})
        return pages(self._client, request, lambda raw: Sweep(raw, self._client))

    @operation
    def get_sweep(self, sweep_id: str) -> Flow[Sweep[K]]:
        """Read the state of a sweep, and its definition."""
        response = yield from exchange(self._client, Request("GET", path("sweeps", sweep_id)))
        return Sweep(response.json(), self._client)

    @operation
    def cancel_sweep(self, sweep_id: str) -> Flow[Sweep[K]]:
        """Cancel a sweep; scenarios that are scored stay."""
        response = yield from exchange(self._client, Request("DELETE", path("sweeps", sweep_id)))
        return Sweep(response.json(), self._client)

    @operation
    def clone_sweep(self, sweep_id: str, **changes: Unpack[fields.ChangesRequest]) -> Flow[Sweep[K]]:
        """Run the same sweep with some fields changed."""
        response = yield from exchange(self._client, Request("POST", path("sweeps", sweep_id, "clones"), json=changes))
        return Sweep(response.json(), self._client)

    @iteration
    def follow_sweep(self, sweep_id: str) -> Items[Sweep[K]]:
        """Iterate over the sweep's states as the service sends them, until it has ended."""
        return follow(self._client, path("sweeps", sweep_id, "events"), lambda raw: Sweep(raw, self._client))

    @iteration
    def list_scenarios(
        self,
        sweep_id: str,
        *,
        feasible: bool | None = None,
        axis: Sequence[str] | None = None,
        sort: fields.ListScenariosSort | None = None,
        descending: bool | None = None,
        page_size: int | None = 1000,
    ) -> Items[models.ScenarioDocument]:
        """Iterate over scored scenarios.

        Parameters
        ----------
        axis : `name=value`; only scenarios in which the axis has this value.
        sort : the index, or a figure of the sweep's kind.
        page_size : how many are read at a time.
        """
        query = _query(feasible=feasible, axis=axis, sort=sort, descending=descending, page_size=page_size)
        request = Request("GET", path("sweeps", sweep_id, "scenarios"), query)
        return pages(self._client, request, models.ScenarioDocument)

    @operation
    def export_scenarios(
        self,
        sweep_id: str,
        format: Literal["csv", "parquet", "arrow"] = "csv",  # noqa: A002 -- as of `export_plan`
        to: str | Path | None = None,
        *,
        feasible: bool | None = None,
        axis: Sequence[str] | None = None,
        sort: fields.ListScenariosSort | None = None,
        descending: bool | None = None,
    ) -> Flow[Export]:
        """All scored scenarios as a file; the parameters are those of `list_scenarios` and `export_plan`."""
        query = _query(feasible=feasible, axis=axis, sort=sort, descending=descending)
        headers = {"Accept": _MEDIA_TYPES[format]}
        request = Request("GET", path("sweeps", sweep_id, "scenarios"), query, headers=headers)
        response = yield from exchange(self._client, request)
        export = export_of(response, default_name=f"sweep-{sweep_id}.{format}")
        if to is not None:
            export.save(to)
        return export

    @operation
    def get_scenario(self, sweep_id: str, index: int) -> Flow[models.ScenarioDocument]:
        """Read one scored scenario."""
        response = yield from exchange(self._client, Request("GET", path("sweeps", sweep_id, "scenarios", index)))
        return models.ScenarioDocument(response.json())

    @operation
    def open_scenario(self, sweep_id: str, index: int) -> Flow[AnyPlan[K]]:
        """Store a scenario as a plan."""
        request = Request("POST", path("sweeps", sweep_id, "scenarios", index, "plan"))
        response = yield from exchange(self._client, request)
        return plan_of(response.json(), self._client)

    @operation
    def summarise_sweep(
        self, sweep_id: str, *, feasible: bool | None = None, axis: Sequence[str] | None = None
    ) -> Flow[models.SummaryDocument]:
        """The distributions of a sweep's figures."""
        query = _query(feasible=feasible, axis=axis)
        response = yield from exchange(self._client, Request("GET", path("sweeps", sweep_id, "summary"), query))
        return models.SummaryDocument(response.json())

    @operation
    def get_front(self, sweep_id: str) -> Flow[models.FrontDocument]:
        """The Pareto front of a capacity sweep."""
        response = yield from exchange(self._client, Request("GET", path("sweeps", sweep_id, "front")))
        return models.FrontDocument(response.json())

    @operation
    def get_best(self, sweep_id: str) -> Flow[models.BestDocument]:
        """The best scenario of a capacity sweep, and why cheaper neighbours are not acceptable."""
        response = yield from exchange(self._client, Request("GET", path("sweeps", sweep_id, "best")))
        return models.BestDocument(response.json())

    @operation
    def compare_sweeps(self, sweep_id: str, against: str) -> Flow[models.ComparisonDocument]:
        """Compare two capacity sweeps."""
        request = Request("GET", path("sweeps", sweep_id, "comparison"), {"against": against})
        response = yield from exchange(self._client, request)
        return models.ComparisonDocument(response.json())


class Sweep(models.SweepWithDefinition, Resource[K]):
    """A sweep. `definition` is there after `refresh` or `get_sweep`; lists leave it out."""

    best = of_resource(SweepOperations.get_best)
    compare = of_resource(SweepOperations.compare_sweeps)
    export = of_resource(SweepOperations.export_scenarios)
    front = of_resource(SweepOperations.get_front)
    list_scenarios = items_of_resource(SweepOperations.list_scenarios)
    scenario = of_resource(SweepOperations.get_scenario)
    summary = of_resource(SweepOperations.summarise_sweep)

    @operation
    def refresh(self) -> Flow[Sweep[K]]:
        """The sweep as it is now."""
        return SweepOperations.get_sweep.flow(self._client, self.id)

    @operation
    def cancel(self) -> Flow[Sweep[K]]:
        """Cancel the sweep; scenarios that are scored stay."""
        return SweepOperations.cancel_sweep.flow(self._client, self.id)

    @operation
    def clone(self, **changes: Unpack[fields.ChangesRequest]) -> Flow[Sweep[K]]:
        """Run the same sweep with some fields changed."""
        return SweepOperations.clone_sweep.flow(self._client, self.id, **changes)

    @iteration
    def follow(self) -> Items[Sweep[K]]:
        """Iterate over the sweep's states as the service sends them, until it has ended."""
        return SweepOperations.follow_sweep.flow(self._client, self.id)

    @operation
    def open_scenario(self, index: int) -> Flow[AnyPlan[K]]:
        """Store a scenario as a plan."""
        return SweepOperations.open_scenario.flow(self._client, self.id, index)

    @operation
    def wait(self, timeout: float | None = None, *, progress: Progress = False) -> Flow[Sweep[K]]:
        """Wait until the sweep has succeeded, and return it as it is then.

        Parameters
        ----------
        timeout : seconds; without one until it has ended.
        progress : True prints to stderr; a function gets the sweep whenever it was looked at.

        Raises `JobFailed`, `JobCancelled`, and `TimeoutError`, after which the sweep goes on.
        """
        return wait(self, lambda: Sweep.refresh.flow(self), timeout=timeout, progress=progress)

    @operation
    def to_arrow(self) -> Flow[Any]:
        """The scenarios as a `pyarrow.Table`; needs `rackplan-client[arrow]`."""
        export = yield from SweepOperations.export_scenarios.flow(self._client, self.id, "arrow")
        return export.to_arrow()

    @operation
    def to_pandas(self) -> Flow[Any]:
        """The scenarios as a `pandas.DataFrame`; needs `rackplan-client[pandas]`."""
        table = yield from Sweep.to_arrow.flow(self)
        return table.to_pandas()

    def _repr_html_(self) -> str:
        return notebook.of_sweep(self.raw)


def _query(**given: Any) -> dict[str, Any]:
    """Query parameters as the service reads them: truth values are `true` and `false`."""
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
