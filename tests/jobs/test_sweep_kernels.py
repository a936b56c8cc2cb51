"""Kernels of the sweeps, without Spark: definitions in, rows out, in the schema that is declared."""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pyarrow as pa
import pytest
from structlog.testing import capture_logs

from app.api.examples import SWEEP
from app.api.sweeps.capacity import CapacitySweepRequest
from app.core.sweeps import SweepScenarios, score
from app.core.sweeps.scoring import LONGEST_TRACE
from app.errors import Json
from app.errors.quotation import DETAIL_CHARACTERS
from app.errors.requests import ConflictingFields
from app.jobs.kernels.loop import results_of, run_task
from app.jobs.kernels.registry import KERNELS
from app.jobs.kernels.scenarios import KERNEL, SCHEMA, payload
from app.jobs.sweeps import log_traces
from app.services.sweeps import KINDS, Chunk
from tests.services.swept import cluster, definition_of

BROKERS = [{"id": i, "rack": f"r{i % 3}", "fenced": False} for i in range(6)]
DEFINITIONS: dict[str, dict[str, Any]] = {
    "capacity": dict(CapacitySweepRequest.model_validate(SWEEP).service().definition),
    "placement_draws": {
        "topics": [{"name": "t", "partitions": 10, "replication_factor": 2, "start_partition_id": 0}],
        "algorithm": "striped",
        "seeds": {"first": -3, "count": 300},
        "resolved": {"brokers": BROKERS},
    },
    "consumer_groups": {
        "assignors": ["range", "cooperative-sticky", "uniform", "optimal"],
        "members_lost": [0, 1],
        "members_added": [0, 1, 2],
        "seed": 0,
        "resolved": {
            "brokers": BROKERS,
            "topics": [{"name": "t", "topic_id": None, "replicas": [[p % 6, (p + 1) % 6] for p in range(9)]}],
            "groups": [
                {
                    "id": "g",
                    "members": [
                        {
                            "id": f"m{i}",
                            "topics": ["t"],
                            "rack_id": f"r{i}",
                            "group_instance_id": None,
                            "owned": {"t": [i, i + 3, i + 6]},
                            "generation_id": 0,
                        }
                        for i in range(3)
                    ],
                }
            ],
        },
    },
    "consumers": {
        "capacities_bytes_per_s": [60, 90, 200],
        "delays_s": [0, 60],
        "spares": [0, 1],
        "min": 1,
        "resolved": {
            "groups": [
                {"group": name, "step_s": 60, "rates": [[(7 * i + p * each) % 60 for p in range(5)] for i in range(6)]}
                for each, name in enumerate(("billing", "audit"), 3)
            ]
        },
    },
    "reassignment": definition_of(
        cluster([[p % 6, (p + 1) % 6] for p in range(9)], [f"r{broker % 3}" for broker in range(6)], range(9)),
        {"remove_broker": "each", "limits.disk": [0.5, 1]},
        capacity={"*": {"disk_bytes": 60, "nic_in_bytes_per_s": 1000, "nic_out_bytes_per_s": 1000}},
        ingress_bytes_per_s={"t": [10] * 9},
    ),
}


BY_SCENARIO = [name for name, kind in KINDS.items() if not kind.is_measured_whole]
"""The kinds whose scenarios are scored one by one; a dataset of keys is measured as a whole."""


def run(kind: str, *ranges: tuple[int, int]) -> list[tuple[int, Json]]:
    """The rows of these ranges, given to one task in a batch each."""
    batches: Iterator[pa.RecordBatch] = iter(
        [pa.record_batch({"start": pa.array([start]), "stop": pa.array([stop])}) for start, stop in ranges]
    )
    yielded = run_task(KERNELS, KERNEL.name, payload(KINDS[kind].reader, DEFINITIONS[kind]), SCHEMA, batches)
    rows = results_of(pa.Table.from_batches(list(yielded))).to_pydict()
    return [(index, json.loads(row)) for index, row in zip(rows["index"], rows["row"], strict=True)]


def test_every_kind_has_a_definition_here() -> None:
    assert sorted(DEFINITIONS) == sorted(BY_SCENARIO)


@pytest.mark.parametrize("kind", BY_SCENARIO)
def test_rows_equal_the_kinds_own_scores(kind: str) -> None:
    """In one range or in several: ranges lost with an executor are scored again elsewhere."""
    count = KINDS[kind].count(DEFINITIONS[kind])
    scored = KINDS[kind].score(DEFINITIONS[kind], 0, count)
    expected = [(row.index, json.loads(json.dumps(row.document))) for row in scored]
    assert run(kind, (0, count)) == expected
    assert run(kind, (0, 3), (3, 4), (4, count)) == expected
    assert not any(dict(row)["error"] for _, row in expected)


@pytest.mark.parametrize("kind", BY_SCENARIO)
def test_rows_have_the_figures_that_their_kind_names(kind: str) -> None:
    """Keys of sorting and summing, and columns of tables."""
    [(_, row)] = run(kind, (1, 2))
    assert isinstance(row, dict)
    assert set(KINDS[kind].numbers) <= set(row)
    for column in KINDS[kind].columns(DEFINITIONS[kind]):
        assert column.path[0] in row
        if column.path[0] == "axes":
            assert column.path[1] in row["axes"]
    axes = [column.path[1] for column in KINDS[kind].columns(DEFINITIONS[kind]) if column.path[0] == "axes"]
    assert list(row["axes"]) == axes


class Defective:
    """A sweep whose second scenario is not possible, and whose others meet a defect of the program."""

    count = 6
    without_figures: Mapping[str, Json] = MappingProxyType({"feasible": None})

    def coordinates(self, index: int) -> dict[str, Json]:
        return {"axes": {"x": index}}

    def figures(self, index: int) -> Mapping[str, Json]:
        if index == 1:
            raise ConflictingFields("one is one too many", path=("axes", "x"))
        raise ZeroDivisionError(f"scenario {index}")


def read_sweep(_: Mapping[str, Json]) -> SweepScenarios:
    """Its reader."""
    return Defective()


def defective_rows() -> pa.Table:
    """Its kernel's rows."""
    task: Iterator[pa.RecordBatch] = iter([pa.record_batch({"start": pa.array([0]), "stop": pa.array([6])})])
    return results_of(pa.Table.from_batches(run_task(KERNELS, KERNEL.name, payload(read_sweep, {}), SCHEMA, task)))


def test_an_unexpected_error_has_its_trace_beside_the_row_and_not_in_it() -> None:
    """The row is answered to callers; the trace names files and lines of ours, and is for the log."""
    rows = [json.loads(row) for row in defective_rows().column("row").to_pylist()]
    traces = defective_rows().column("trace").to_pylist()
    assert [row["error"]["code"] for row in rows] == ["unexpected_error", "conflicting_fields"] + 4 * [
        "unexpected_error"
    ]
    assert rows[0] == {
        "index": 0,
        "axes": {"x": 0},
        "feasible": None,
        "error": {"code": "unexpected_error", "detail": "ZeroDivisionError: scenario 0", "path": []},
    }
    assert rows[1]["error"] == {"code": "conflicting_fields", "detail": "one is one too many", "path": ["axes", "x"]}
    assert traces[1] is None
    assert "in figures" in traces[0]
    assert traces[0].endswith("ZeroDivisionError: scenario 0\n")


def test_a_long_trace_is_cut_at_its_beginning() -> None:
    class Deep(Defective):
        def figures(self, index: int) -> Mapping[str, Json]:
            raise ZeroDivisionError("x" * 10_000 + f" in scenario {index}")

    [row] = score(Deep(), 0, 1)
    error: Any = row.document["error"]
    assert len(error["detail"]) == DETAIL_CHARACTERS
    assert row.trace is not None
    assert len(row.trace) == LONGEST_TRACE
    assert row.trace.endswith("in scenario 0\n")


def test_the_worker_logs_a_few_traces_of_a_chunk() -> None:
    sweep = SimpleNamespace(id=UUID(int=7), kind="capacity")
    with capture_logs() as logged:
        log_traces(cast("Chunk", SimpleNamespace(sweep=sweep, start=0, stop=6)), defective_rows())
    assert [line["scenario"] for line in logged] == [0, 2, 3]
    assert logged[0]["event"] == "scenario.unexpected_error"
    assert (logged[0]["sweep"], logged[0]["kind"], logged[0]["of_chunk"]) == (str(UUID(int=7)), "capacity", 5)
    assert "ZeroDivisionError: scenario 0" in logged[0]["trace"]
