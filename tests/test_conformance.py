"""The vectors measured from Kafka's own code, and the command that runs them."""

import shutil
from io import StringIO
from pathlib import Path

import orjson
import pytest

from tests.conformance import ANSWERS, comparison
from tests.conformance.__main__ import main
from tests.conftest import VECTORS


@pytest.mark.long
@pytest.mark.slow  # the tests of each algorithm compare the same answers, one by one
@pytest.mark.parametrize("algorithm", sorted(ANSWERS))
def test_every_answer_is_kafkas(algorithm: str, tmp_path: Path) -> None:
    shutil.copy(VECTORS / f"{algorithm}.jsonl", tmp_path)
    (report,) = comparison.run(tmp_path)
    assert report.cases > 0
    assert not report.mismatches, report.text()


def altered(case: str) -> dict[str, object]:
    """A case of AdminUtils, by its name."""
    lines = (VECTORS / "admin_utils.jsonl").read_bytes().splitlines()
    found: dict[str, object] = next(row for row in map(orjson.loads, lines) if row["name"] == case)
    return found


def run(folder: Path) -> tuple[int, str]:
    """The exit code and the output of the command."""
    output = StringIO()
    return main([str(folder)], output), output.getvalue()


def test_a_wrong_answer_is_shown_where_it_differs_and_fails_the_run(tmp_path: Path) -> None:
    case = altered("kip36-rf4")
    case["expected"]["replicas"][2][1] = 77  # type: ignore[index] # JSON
    (tmp_path / "admin_utils.jsonl").write_bytes(orjson.dumps(case))
    code, output = run(tmp_path)
    assert code == 1
    assert "admin_utils [4.0]: 1 cases, 1 mismatches" in output
    assert "at replicas[2][1]\n      Kafka    77\n      Rackplan" in output


def test_an_error_of_kafkas_own_has_to_say_the_same(tmp_path: Path) -> None:
    case = altered("single-broker-rf2")
    case["expected"]["message"] = "something else"  # type: ignore[index] # JSON
    (tmp_path / "admin_utils.jsonl").write_bytes(orjson.dumps(case))
    assert run(tmp_path)[0] == 1


def test_what_the_jvm_says_of_an_error_does_not_count(tmp_path: Path) -> None:
    case = {
        "name": "overflow",
        "input": {
            "brokers": [{"id": 1, "rack": None}, {"id": 2, "rack": None}],
            "n_partitions": 3,
            "replication_factor": 2,
            "fixed_start_index": 2**31 - 1,
            "start_partition_id": 0,
        },
        "expected": {"error": "IndexOutOfBoundsException", "message": "the JVM's own words"},
    }
    (tmp_path / "admin_utils.jsonl").write_bytes(orjson.dumps(case))
    assert run(tmp_path) == (0, "admin_utils [4.0]: 1 cases, 0 mismatches\n")


def test_an_algorithm_without_an_implementation_is_named_and_is_no_mismatch(tmp_path: Path) -> None:
    (tmp_path / "somebody_elses.jsonl").write_text('{"name": "a"}\n\n{"name": "b"}\n')
    assert run(tmp_path) == (0, "somebody_elses: 2 cases, not implemented\n")
