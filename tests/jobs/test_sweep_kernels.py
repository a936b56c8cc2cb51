"""What executors run for the sweeps, without Spark: definitions in, rows out, in the schema that is declared."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest

from app.api.capacity_requests import CapacitySweepRequest
from app.api.examples import SWEEP
from app.errors import Json
from app.jobs.kernels.loop import results_of, run_task
from app.jobs.kernels.registry import KERNELS
from app.jobs.kernels.scenarios import SCHEMA, payload
from app.services.sweep_kinds import KINDS

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
    "reassignment": {
        "axes": {"remove_broker": "each", "add_brokers": [0, 1]},
        "minimise": "bytes",
        "resolved": {
            "brokers": [{"id": i, "rack": f"r{i % 3}", "receives": True} for i in range(6)],
            "counts_racks": True,
            "spans_all": True,
            "topics": [
                {"name": "t", "replicas": [[p % 6, (p + 1) % 6] for p in range(9)], "size_bytes": list(range(9))}
            ],
            "base": [0] * 6,
            "base_bytes": [0] * 6,
            "sizes_known": True,
        },
    },
}


BY_SCENARIO = [name for name, kind in KINDS.items() if not kind.is_measured_whole]
"""The kinds whose scenarios are scored one by one; a dataset of keys is measured as a whole."""


def run(kind: str, *ranges: tuple[int, int]) -> list[tuple[int, Json]]:
    """The rows of these ranges, given to one task in a batch each."""
    batches: Iterator[pa.RecordBatch] = iter(
        [pa.record_batch({"start": pa.array([start]), "stop": pa.array([stop])}) for start, stop in ranges]
    )
    yielded = run_task(KERNELS, KINDS[kind].kernel, payload(DEFINITIONS[kind]), SCHEMA, batches)
    rows = results_of(pa.Table.from_batches(list(yielded))).to_pydict()
    return [(index, json.loads(row)) for index, row in zip(rows["index"], rows["row"], strict=True)]


def test_every_kind_has_a_definition_here() -> None:
    assert sorted(DEFINITIONS) == sorted(BY_SCENARIO)


@pytest.mark.parametrize("kind", BY_SCENARIO)
def test_rows_are_what_the_kind_scores(kind: str) -> None:
    """In one range or in several: what is lost with an executor is scored again elsewhere."""
    count = KINDS[kind].count(DEFINITIONS[kind])
    score: Callable[..., Sequence[Json]] = KINDS[kind].score
    expected = list(enumerate(json.loads(json.dumps(score(DEFINITIONS[kind], 0, count)))))
    assert run(kind, (0, count)) == expected
    assert run(kind, (0, 3), (3, 4), (4, count)) == expected
    assert not any(dict(row)["error"] for _, row in expected)


@pytest.mark.parametrize("kind", BY_SCENARIO)
def test_rows_have_the_figures_that_their_kind_names(kind: str) -> None:
    """What they are sorted and summed up by, and what tables hold."""
    [(_, row)] = run(kind, (1, 2))
    assert isinstance(row, dict)
    assert set(KINDS[kind].numbers) <= set(row)
    for column in KINDS[kind].columns(DEFINITIONS[kind]):
        assert column.path[0] in row
        if column.path[0] == "axes":
            assert column.path[1] in row["axes"]
    axes = [column.path[1] for column in KINDS[kind].columns(DEFINITIONS[kind]) if column.path[0] == "axes"]
    assert list(row["axes"]) == axes
