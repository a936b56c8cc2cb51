"""Sweeps over reassignments of one cluster: each scenario is a request, placed as its plan is.

axes.py     the axes, the request of each scenario, and its failures
figures.py  movement of a scenario, and the brokers' balance before and after it

Executors have this package as well: it reads no database.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from app.core.kafka_versions import release_of
from app.core.model import Cluster
from app.core.reassignment.plan import verify
from app.core.replicas.options import RackMode
from app.errors import Json
from app.formats.snapshots import snapshot_json
from app.services.limits import Limits
from app.services.plans import Allowance
from app.services.reassignment.problem.brokers import brokers_of
from app.services.reassignment.problem.resolve import resolve
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.reassignment.requests.validation import check
from app.services.reassignment.solve import planned
from app.services.reassignment.sweep.axes import SweptRequests
from app.services.reassignment.sweep.figures import NUMBERS, figures_of

__all__ = ["NUMBERS", "ReassignmentSweep", "SweptRequests", "read_sweep"]

_MOST = 2**62
_ALLOWANCE = Allowance(
    Limits(max_brokers=_MOST, max_topics=_MOST, max_partitions=_MOST, max_replicas=_MOST), is_job=True
)
"""Without limits: the operator's were checked when the sweep was submitted."""


class ReassignmentSweep:
    """The scenarios of a definition, each placed as a plan of the same request and verified."""

    without_figures: Mapping[str, Json] = MappingProxyType({"feasible": None})

    def __init__(self, requests: SweptRequests, cluster: Cluster) -> None:
        self._requests, self._cluster = requests, cluster
        self._version = release_of(requests.base.kafka_version, cluster.kafka_version)
        now = brokers_of(ReassignmentRequest(rack_mode=RackMode.DISABLED), cluster)
        self._receiving = now.ids[now.may_receive]

    @property
    def count(self) -> int:
        """The number of scenarios."""
        return self._requests.grid.size

    def coordinates(self, index: int) -> dict[str, Json]:
        """The value of each axis."""
        return {"axes": self._requests.grid.values(index)}

    def figures(self, index: int) -> Mapping[str, Json]:
        """The figures of scenario `index`; limits and budgets that cannot hold are exceeded as little as is found.

        Raises as `check` and `resolve`, with the axis in place of the field that it varies.
        """
        with self._requests.located(self._requests.grid.values(index)):
            request = self._requests.request(index)
            check(request, _ALLOWANCE.limits)
            problem = replace(resolve(request, self._cluster, _ALLOWANCE, self._version), relaxes=True)
            found = planned(problem)
        if violations := verify(problem, found):
            raise RuntimeError("; ".join(violations[:5]))
        receives_now: np.ndarray[Any, np.dtype[np.bool_]] = np.isin(problem.brokers.ids, self._receiving)
        return figures_of(problem, found, receives_now=receives_now)


def read_sweep(definition: Mapping[str, Any]) -> ReassignmentSweep:
    """The JSON of a resolved sweep, for executors. Raises as `SweptRequests.of` does."""
    return ReassignmentSweep(SweptRequests.of(definition), snapshot_json.of_members(definition["resolved"]["cluster"]))
