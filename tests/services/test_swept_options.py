"""Every option of a reassignment is an option of its sweep: a scenario is scored as the plan that it is opened as."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given
from pydantic import TypeAdapter

from app.api.sweeps.requests import ReassignmentSweepRequest
from app.core.model import Cluster
from app.errors import Failure
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, ReassignmentRequest
from app.services.reassignment.sweep import SweptRequests
from tests import draws as st
from tests.profiles import costly
from tests.services.swept import Json, cluster, clusters, definition_of, rows

OPTIONS: tuple[Json, ...] = (
    {"balance": {"leaders": "tight", "leaders_by": "count"}},
    {"balance": {"leaders": {"tolerance": 0.2}, "replicas": "tight"}},
    {"balance": {"leaders": "tight", "leaders_move_replicas": True}},
    {"balance": {"replicas": "tight", "replicas_by": "bytes"}},
    {"balance": {"replicas": {"tolerance": 0.3}, "replicas_by": "bytes", "weights": {"0": 2.0}}},
    {"balance": {"replicas": "tight", "replicas_by": "throughput"}, "ingress_bytes_per_s": {"t": 900}},
    {"balance": {"resources": ["disk"], "replicas": "tight"}},
    {"balance": {"per_topic": {"leaders": "tight"}}},
    {"evacuate_leaders": {"brokers": [0]}},
    {"fix_offline_replicas": True},
    {"forbid_brokers": [1]},
    {"cordoned_brokers": [1]},
    {"isolate": [{"topics": ["t"], "brokers": [0, 1, 2]}]},
    {"limits": {"replicas": {"absolute": 3}}},
    {"limits": {"replicas": {"absolute": 3, "soft": True}}, "on_conflict": "relax"},
    {"max_moved_bytes": 5},
    {"max_replicas_per_rack": 1, "rack_mode": "safe"},
    {"min_leaders_per_broker": {"t": 1}},
    {"minimise": "replicas", "balance": {"replicas": "tight"}},
    {"objective": {"goals": [{"goal": "leaders"}, {"goal": "replicas"}]}},
    {"partitions": {"t": 9}},
    {"pins": [{"topic": "t", "partition": 0, "replicas": [0]}], "on_conflict": "relax"},
    {"preferred_racks": {"*": ["a"]}},
    {"remove_brokers": [0], "on_conflict": "relax"},
    {"repair_racks": False},
    {"replace_brokers": {"0": 9}, "add_brokers": [{"id": 9, "rack": "a"}]},
    {"replication_factor": {"t": 2}},
    {"unknown_sizes": "estimate", "kafka_version": "3.9"},
)


@st.composite
def partly_in_sync(draw: st.DrawFn) -> Cluster:
    """A cluster in whose partitions some replicas are out of sync, and in which a broker may be fenced."""
    found = draw(clusters())
    [t] = found.topics
    behind = np.array(draw(st.lists(st.booleans(), min_size=t.replicas.size, max_size=t.replicas.size)), np.bool_)
    isr = np.where(behind.reshape(t.replicas.shape), np.int32(-1), t.replicas)
    fenced = draw(st.integers(-6, len(found.brokers) - 1))
    brokers = tuple(replace(broker, fenced=broker.id == fenced) for broker in found.brokers)
    return replace(found, brokers=brokers, topics=(replace(t, isr=np.sort(isr, axis=1)[:, ::-1].copy()),))


@costly(150)
@given(
    partly_in_sync(), st.sampled_from(OPTIONS), st.sampled_from([{"remove_broker": "each"}, {"add_brokers": [0, 1]}])
)
def test_a_scenario_is_scored_as_its_plan(swept: Cluster, options: Json, axes: Json) -> None:
    try:
        requests = SweptRequests.of(definition_of(swept, axes, **options))
    except Failure:
        assume(False)  # the options are not possible on this cluster, whatever the axes
    for row in rows(swept, axes, **options):
        request = requests.request(row["index"])
        try:
            plan: Any = draft_plan(PLANNER, request, swept, Limits()).answer
        except Failure as failure:
            # A limit or a budget is exceeded in a scenario, and refused in a plan.
            named = failure.code if row["error"] is not None else None
            assert named == (row["error"] and row["error"]["code"])
            assert row["error"] is not None or not row["feasible"]
            continue
        assert row["error"] is None, row["error"]
        event("planned")
        certificate = plan["certificate"]
        names = ("moved_replicas", "moved_bytes", "lower_bound_bytes", "optimal", "gap")
        assert {name: row[name] for name in names} == {name: certificate[name] for name in names}
        assert row["relaxed"] == plan["relaxed"]
        assert row["feasible"] == (not plan["relaxed"])


def test_a_sweep_has_every_field_of_a_plan() -> None:
    assert issubclass(ReassignmentSweepRequest, ReassignmentRequest)
    given = {"kind": "reassignment", "cluster": "c", "axes": {"add_brokers": [1]}, **OPTIONS[0], "leaders_only": True}
    definition = TypeAdapter(ReassignmentSweepRequest).validate_python(given).service().definition
    assert definition == {
        **{name: value for name, value in given.items() if name != "kind"},
        "balance": {"leaders": "tight"},
        "minimise": "bytes",
        "rack_mode": "enforced",
    }


@pytest.mark.parametrize(
    ("options", "feasible", "constraint"),
    [({"max_moved_bytes": 0}, False, "max_moved_bytes"), ({"max_moved_bytes": 100}, True, None)],
)
def test_a_budget_that_cannot_hold_is_named(options: Json, feasible: bool, constraint: str | None) -> None:
    [row] = rows(cluster([[0], [1], [2]], [None] * 3, [7, 7, 7]), {"remove_broker": [0]}, **options)
    assert (row["feasible"], row["moved_bytes"]) == (feasible, 7)
    assert [each["constraint"] for each in row["relaxed"]] == ([] if constraint is None else [constraint])
