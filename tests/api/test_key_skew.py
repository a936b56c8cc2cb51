"""Requests for sweeps of the kind `key_skew`. Their runs on Spark are tested in tests/jobs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.errors.requests import DatasetNotAllowed
from app.services.dataset_roots import located
from app.store.database import Database
from tests.api.contract import only_error, problem
from tests.databases import Rows
from tests.service import client_of, served

Json = dict[str, Any]


def request_body(path: object, **changed: Any) -> Json:
    """A sweep over lines at a path, with other fields; None leaves one out."""
    body: Json = {
        "kind": "key_skew",
        "dataset": {"path": str(path), "format": "lines"},
        "partitioners": ["murmur2", "consistent"],
        "partitions": 12,
        "compare_partitions": [24, 12],
    }
    return {name: value for name, value in (body | changed).items() if value is not None}


@pytest.fixture(scope="module")
def reading(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that may read the folders of tests."""
    roots = (str(tmp_path_factory.getbasetemp()), "s3a://bucket/keys/")
    with served(rows.database, dataset_roots=roots) as address:
        yield address


@pytest.fixture
def open_client(reading: str, database: Database) -> Iterator[httpx.Client]:  # noqa: ARG001 -- its rows are reset
    """A client of that service, which has no rows."""
    with client_of(reading) as client:
        yield client


class TestAsking:
    """`POST /v1/sweeps`."""

    def test_a_scenario_is_a_partitioner_at_a_partition_count(self, open_client: httpx.Client, tmp_path: Path) -> None:
        response = open_client.post("/v1/sweeps", json=request_body(tmp_path / "keys.txt"))
        assert response.status_code == 202, response.text
        assert response.json()["scenarios"] == 4
        definition = open_client.get(response.headers["location"]).json()["definition"]
        assert definition["dataset"]["key_encoding"] == "utf8"
        assert "resolved" not in definition

    def test_a_partitioner_that_is_listed_twice_is_measured_once(
        self, open_client: httpx.Client, tmp_path: Path
    ) -> None:
        twice = request_body(tmp_path, partitioners=["murmur2", "murmur2"], compare_partitions=None)
        assert open_client.post("/v1/sweeps", json=twice).json()["scenarios"] == 1

    def test_no_dataset_is_allowed_by_default(self, client: httpx.Client, tmp_path: Path) -> None:
        actual = problem(client.post("/v1/sweeps", json=request_body(tmp_path)), 422, "dataset_not_allowed")
        assert "RACKPLAN_DATASET_ROOTS" in actual["detail"]
        only_error(actual, "/dataset/path")

    def test_paths_outside_of_roots_are_rejected_alike_whether_they_exist_or_not(
        self, open_client: httpx.Client
    ) -> None:
        details = {
            problem(open_client.post("/v1/sweeps", json=request_body(path)), 422, "dataset_not_allowed")[
                "detail"
            ].replace(path, "it")
            for path in ("/etc/passwd", "/etc/nothing-of-the-kind", "/usr")
        }
        assert len(details) == 1

    @pytest.mark.parametrize(
        ("changed", "code", "pointer"),
        [
            ({"partitioners": ["md5"]}, "validation", "/partitioners/0"),
            ({"partitioners": []}, "validation", "/partitioners"),
            ({"partitions": 0}, "invalid_partitions", "/partitions"),
            ({"compare_partitions": [3, 0]}, "invalid_partitions", "/compare_partitions/1"),
            ({"heaviest": 101}, "validation", "/heaviest"),
        ],
    )
    def test_an_impossible_value_is_named(
        self, open_client: httpx.Client, tmp_path: Path, changed: Json, code: str, pointer: str
    ) -> None:
        only_error(problem(open_client.post("/v1/sweeps", json=request_body(tmp_path, **changed)), 422, code), pointer)

    def test_more_partitions_than_one_answer_may_have_are_rejected(
        self, open_client: httpx.Client, tmp_path: Path
    ) -> None:
        body = request_body(tmp_path, partitions=1_000_000)
        problem(open_client.post("/v1/sweeps", json=body), 413, "limit_exceeded")

    @pytest.mark.parametrize(
        ("dataset", "pointer"),
        [
            ({"format": "parquet"}, "/dataset/key_column"),
            ({"format": "lines", "key_column": "k"}, "/dataset/key_column"),
            ({"format": "lines", "value_column": "v"}, "/dataset/value_column"),
            ({"format": "arrow", "key_column": "k", "path": "s3a://bucket/keys/a"}, "/dataset/format"),
        ],
    )
    def test_contradictory_fields_are_named(
        self, open_client: httpx.Client, tmp_path: Path, dataset: Json, pointer: str
    ) -> None:
        body = request_body(tmp_path, dataset={"path": str(tmp_path), **dataset})
        only_error(problem(open_client.post("/v1/sweeps", json=body), 422, "conflicting_fields"), pointer)

    def test_a_clone_takes_other_counts_and_keeps_those_that_are_null(
        self, open_client: httpx.Client, tmp_path: Path
    ) -> None:
        location = open_client.post("/v1/sweeps", json=request_body(tmp_path)).headers["location"]
        clone = open_client.post(f"{location}/clones", json={"compare_partitions": [1, 2, 3]})
        assert (clone.status_code, clone.json()["scenarios"]) == (202, 8)
        null = open_client.post(f"{location}/clones", json={"partitions": None, "compare_partitions": None})
        first = open_client.get(location).json()
        assert (null.status_code, null.json()["scenarios"]) == (202, first["scenarios"])
        again = open_client.get(null.headers["location"]).json()
        assert again["definition"] == first["definition"]

    def test_there_is_no_plan_of_a_scenario(self, open_client: httpx.Client, tmp_path: Path) -> None:
        location = open_client.post("/v1/sweeps", json=request_body(tmp_path)).headers["location"]
        problem(open_client.post(f"{location}/scenarios/0/plan"), 422, "not_for_this_kind")


class TestRoots:
    """`services.datasets.located`."""

    def test_a_link_is_resolved_before_it_is_compared(self, tmp_path: Path) -> None:
        inside = tmp_path / "root"
        (inside / "data").mkdir(parents=True)
        (inside / "out").symlink_to("/etc")
        (tmp_path / "in").symlink_to(inside / "data")
        assert located(f"{inside}/data/../data", [str(inside)]) == str(inside / "data")
        assert located(f"file://{inside}/data", [f"file://{inside}"]) == str(inside / "data")
        assert located(f"{tmp_path}/in/a", [str(inside)]) == str(inside / "data" / "a")
        for path in (f"{inside}/out/passwd", f"{inside}/../other", f"{inside}-other", "data", "file:/etc", "~"):
            with pytest.raises(DatasetNotAllowed) as raised:
                located(path, [str(inside)])
            assert path in raised.value.detail

    @pytest.mark.parametrize("path", ["s3a://bucket/keys", "s3a://bucket/keys/", "s3a://bucket/keys/2026/a.parquet"])
    @pytest.mark.parametrize("root", ["s3a://bucket/keys", "s3a://bucket/keys/"])
    def test_a_uri_is_under_its_beginning(self, path: str, root: str) -> None:
        assert located(path, ["/data", root]) == path

    @pytest.mark.parametrize(
        "path",
        [
            "s3a://bucket/keysets",
            "s3a://bucket/keys/../secret",
            "s3a://bucket/keys/*",
            "s3a://bucket/keys/{a,../../secret}",
            "s3a://bucket",
            "s3a://other/keys/a",
            "hdfs://bucket/keys/a",
            "/s3a://bucket/keys/a",
        ],
    )
    def test_a_uri_with_a_pattern_or_dots_is_rejected(self, path: str) -> None:
        with pytest.raises(DatasetNotAllowed):
            located(path, ["s3a://bucket/keys"])
