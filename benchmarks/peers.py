"""Reassignments beside what other planners make of the same clusters, of `tests/peer_figures.py`.

A line for each case has our figures, those of the best peer for each compared figure, and the ratio of ours to it: at
most 1 says that no peer is better. The ends of loads are the largest and the smallest over the mean.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from app.errors import Json
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, READER
from app.store.records import NewPlan
from benchmarks.measure import Result, interleaved
from tests.peer_clusters import Figures, cluster, evaluate
from tests.peer_figures import CASES, PeerCase

COMPARED = ("moved_bytes", "moved_replicas", "leader_changes")
SOURCE = "tests/peer_figures.py"


def run() -> Iterator[Result]:
    """Measure every case."""
    for case in CASES:
        found: list[NewPlan] = []
        times = interleaved({"plan": partial(_plan, case, found)}, runs=1, warm_ups=0)
        yield Result(
            "peers",
            {"case": case.name, "cluster": case.cluster, "request": case.body},
            times["plan"],
            facts=_compared(case, figures_of(case, found[-1])) | _bounds(found[-1]),
        )


def _plan(case: PeerCase, found: list[NewPlan]) -> None:
    found.append(planned(case))


def planned(case: PeerCase) -> NewPlan:
    """Our plan for a case."""
    body: dict[str, Any] = {"snapshot_id": "00000000-0000-0000-0000-000000000000", **case.body}
    request = READER.validate_python(body)
    return draft_plan(PLANNER, request, cluster(case.cluster), Limits())


def figures_of(case: PeerCase, plan: NewPlan) -> Figures:
    """What the evaluator counts of a plan, the same as of every peer."""
    after = {placement.topic: placement.replicas for placement in plan.placements}
    removed = case.request.get("remove_brokers", ())
    return evaluate(cluster(case.cluster), after, removed=removed, added=case.added)


def _compared(case: PeerCase, ours: Figures) -> dict[str, Json]:
    best: dict[str, Json] = {}
    for name in COMPARED:
        measured = [(value, peer.peer) for peer in case.peers if (value := getattr(peer, name)) is not None]
        if measured:
            value, peer = min(measured)
            ratio = round(getattr(ours, name) / value, 4) if value else None
            best[name] = {"peer": peer, "value": value, "ratio": ratio, "compared": name in case.compared}
    peers: Any = [{name: value for name, value in asdict(peer).items() if value is not None} for peer in case.peers]
    figures: Mapping[str, Any] = asdict(ours)
    return {"ours": dict(figures), "peers": peers, "best_peer": best, "source": SOURCE}


def _bounds(plan: NewPlan) -> dict[str, Json]:
    certificate: Any = plan.answer["certificate"]
    return {"lower_bound_bytes": certificate["lower_bound_bytes"], "gap": certificate["gap"]}
