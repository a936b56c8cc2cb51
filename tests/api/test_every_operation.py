"""Rules for every operation: HEAD, unknown query parameters, compressed responses."""

import gzip
from typing import Any

import httpx
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_JOB_ID, EXAMPLE_PLAN_ID
from app.api.http.compression import LARGE_BYTES, LEAST_BYTES, preferred
from app.store.database import Database
from tests import databases
from tests.api.conftest import Serve
from tests.api.contract import SNAPSHOT_ID, UNKNOWN_ID, only_error, place, problem, topic
from tests.api.operations import IDS, OPERATIONS

PLAN = f"/v1/plans/{EXAMPLE_PLAN_ID}"
READS = [(path, operation) for method, path, operation in OPERATIONS if method == "get"]
READ_IDS = [operation["operationId"] for _, operation in READS]
PAGES = ["/", f"/plans/{EXAMPLE_PLAN_ID}", "/docs", "/openapi.json", "/static/style.css"]


def _url(path: str, operation: dict[str, Any]) -> httpx.URL:
    """The URL of an operation's examples."""
    parameters = operation.get("parameters", [])
    examples = {p["name"]: p["schema"].get("examples", p.get("examples")) for p in parameters}
    query = {p["name"]: examples[p["name"]][0] for p in parameters if p["in"] == "query" and examples[p["name"]]}
    in_path = {p["name"]: examples[p["name"]][0] for p in parameters if p["in"] == "path"}
    return httpx.URL(path.format(**in_path), params=query)


def _content(operation: dict[str, Any]) -> dict[str, Any]:
    """The body of an operation's first JSON example, as an argument of a client's request; none if it takes none."""
    media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return {"json": next(iter(media["examples"].values()))["value"]} if "examples" in media else {}


def _headers(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name not in ("date", "x-request-id")}


class TestHead:
    """HEAD on everything that GET reads."""

    @pytest.mark.parametrize(("path", "operation"), READS, ids=READ_IDS)
    @pytest.mark.parametrize("accepted", ["identity", "gzip"])
    def test_the_headers_of_get(
        self, client: httpx.Client, path: str, operation: dict[str, Any], accepted: str
    ) -> None:
        self._is_get_without_body(client, _url(path, operation), accepted)

    @pytest.mark.parametrize("page", PAGES)
    def test_pages(self, client: httpx.Client, page: str) -> None:
        self._is_get_without_body(client, httpx.URL(page), "identity")

    def _is_get_without_body(self, client: httpx.Client, url: httpx.URL, accepted: str) -> None:
        headers = {"Accept-Encoding": accepted}
        head = client.head(url, headers=headers)
        assert head.content == b""
        with client.stream("GET", url, headers=headers) as get:  # the events of a job do not end
            expected, is_stream = _headers(get), "transfer-encoding" in get.headers
            is_live = url.path in ("/metrics", "/healthz", "/readyz")
            if not is_stream and not is_live:
                assert int(head.headers["content-length"]) == sum(map(len, get.iter_raw()))
        for varying in ("content-length", "transfer-encoding") if is_live or is_stream else ():
            expected.pop(varying, None)
        assert (head.status_code, {name: head.headers[name] for name in expected}) == (get.status_code, expected)

    def test_problems(self, client: httpx.Client) -> None:
        head = client.head(f"/v1/plans/{UNKNOWN_ID}")
        assert (head.status_code, head.content) == (404, b"")
        assert head.headers["content-type"] == "application/problem+json"
        assert client.head("/v1/checks").status_code == 405

    def test_conditions(self, client: httpx.Client) -> None:
        etag = client.head(PLAN).headers["etag"]
        assert client.head(PLAN, headers={"If-None-Match": etag}).status_code == 304

    def test_of_what_waits(self, client: httpx.Client) -> None:
        response = client.head(f"/v1/jobs/{EXAMPLE_JOB_ID}", headers={"Prefer": "wait=1"})
        assert response.headers["preference-applied"] == "wait=1"


class TestUnknownQueryParameters:
    """They are rejected, as unknown fields are: a misspelt one would be ignored otherwise."""

    @pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=IDS)
    def test_on_every_operation(self, client: httpx.Client, method: str, path: str, operation: dict[str, Any]) -> None:
        response = client.request(method, _url(path, operation).copy_merge_params({"no_such": "1"}))
        error = only_error(problem(response, 422, "validation"), "#query/no_such")
        assert "no_such" in error["detail"]

    def test_what_was_meant(self, client: httpx.Client) -> None:
        found = problem(client.get("/v1/plans", params={"page_sise": 5}), 422, "validation")
        assert only_error(found, "#query/page_sise")["detail"].endswith("; did you mean 'page_size'?")
        assert "kind" in found["known"]

    def test_each_once(self, client: httpx.Client) -> None:
        found = problem(client.get("/v1/plans?x=1&y=2&x=3&kind=replicas"), 422, "validation")
        assert [error["pointer"] for error in found["errors"]] == ["#query/x", "#query/y"]

    @pytest.mark.parametrize("name", ["a/b~c", "\x1b[31m", "x" * 5000, "", "é"])
    def test_names_from_outside(self, client: httpx.Client, name: str) -> None:
        found = problem(client.get("/v1/plans", params={name: ""}), 422, "validation")
        assert len(found["errors"][0]["detail"]) < 500
        assert "\x1b" not in found["detail"]

    @pytest.mark.parametrize("page", PAGES)
    def test_pages_ignore_them(self, client: httpx.Client, page: str) -> None:
        assert client.get(page, params={"utm_source": "x"}).status_code == 200


class TestWithoutDatabase:
    """A database that cannot be reached, which may last: the same request may be sent again."""

    NEED_NONE = frozenset({"/healthz", "/readyz", "/metrics"})

    def test_on_every_operation(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch)
        databases.drop(scratch)
        for method, path, operation in OPERATIONS:
            response = client.request(method, _url(path, operation), **_content(operation))
            if path in self.NEED_NONE:
                assert response.status_code != 500, path
                continue
            found = problem(response, 503, "unavailable")
            assert response.headers["retry-after"] == "2", path
            assert "rackplan" not in found["detail"], "neither an account nor an address"

    def test_pages(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch)
        databases.drop(scratch)
        for page in ("/", f"/plans/{EXAMPLE_PLAN_ID}"):
            response = client.get(page)
            assert (response.status_code, response.headers["retry-after"]) == (503, "2")


class TestCompression:
    """`Accept-Encoding`."""

    @pytest.fixture
    def large(self, client: httpx.Client) -> str:
        """The path of a plan of more than `LARGE_BYTES`."""
        location: str = place(client, topic("large", 6000)).headers["location"]
        return location

    @pytest.mark.parametrize(
        ("accepted", "is_large", "encoding"),
        [
            ("", True, None),
            ("identity", True, None),
            ("gzip, deflate, br, zstd", True, "zstd"),
            ("gzip, deflate, br, zstd", False, "gzip"),
            ("zstd", False, "zstd"),
            ("GZIP", True, "gzip"),
            ("gzip;q=1, zstd;q=0.5", True, "gzip"),
            ("gzip;q=0, zstd;q=0", True, None),
            ("*", True, "zstd"),
            ("*;q=0", True, None),
            ("zstd;q=0, *;q=0.1", True, "gzip"),
            ("gzip;q=0.1, identity;q=0.9", True, None),
            ("br", True, None),
        ],
    )
    def test_preference(self, accepted: str, is_large: bool, encoding: str | None) -> None:
        assert preferred(accepted, is_large=is_large) == encoding

    @given(st.text(), st.booleans())
    def test_no_header_fails(self, accepted: str, is_large: bool) -> None:
        assert preferred(accepted, is_large=is_large) in (None, "gzip", "zstd")

    @pytest.mark.parametrize("encoding", ["gzip", "zstd"])
    @pytest.mark.parametrize("accept", ["application/json", "text/csv", "text/markdown", "image/svg+xml"])
    def test_the_same_bytes(self, client: httpx.Client, large: str, encoding: str, accept: str) -> None:
        plain = client.get(large, headers={"Accept": accept})
        with client.stream("GET", large, headers={"Accept": accept, "Accept-Encoding": encoding}) as response:
            raw = b"".join(response.iter_raw())
        assert response.headers["content-encoding"] == encoding
        assert int(response.headers["content-length"]) == len(raw) < len(plain.content)
        assert _decompressed(raw, encoding, len(plain.content)) == plain.content
        for each in (plain, response):
            assert each.headers["vary"] == "Accept, Accept-Encoding"
        assert response.headers["etag"] == f"W/{plain.headers['etag']}", "its bytes are others"

    def test_either_etag_is_current(self, client: httpx.Client, large: str) -> None:
        compressed = client.get(large, headers={"Accept-Encoding": "gzip"})
        again = client.get(large, headers={"If-None-Match": compressed.headers["etag"], "Accept-Encoding": "gzip"})
        assert (again.status_code, again.headers["vary"]) == (304, "Accept, Accept-Encoding")

    def test_the_etag_of_a_compressed_snapshot_names_its_state(self, client: httpx.Client) -> None:
        etag = client.get(f"/v1/snapshots/{SNAPSHOT_ID}", headers={"Accept-Encoding": "gzip"}).headers["etag"]
        assert client.get(f"{PLAN}/export", headers={"If-Match": etag}).status_code == 200

    def test_small_bodies(self, client: httpx.Client) -> None:
        response = client.get("/healthz", headers={"Accept-Encoding": "gzip"})
        assert len(response.content) < LEAST_BYTES < LARGE_BYTES
        assert "content-encoding" not in response.headers

    @pytest.mark.parametrize("format", ["arrow", "picture"])
    def test_formats(self, client: httpx.Client, large: str, format: str) -> None:  # noqa: A002 -- the contract's word
        """Arrow is compressed by itself or not at all; a picture is text."""
        path = f"{large}/picture.svg" if format == "picture" else f"{large}/export?format=arrow"
        response = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert ("content-encoding" in response.headers) == (format == "picture"), response.headers

    def test_events_are_not_delayed(self, client: httpx.Client) -> None:
        path = f"/v1/jobs/{EXAMPLE_JOB_ID}/events"
        with client.stream("GET", path, headers={"Accept-Encoding": "gzip, zstd"}) as response:
            assert next(response.iter_lines()) == "event: progress"
        assert "content-encoding" not in response.headers

    @pytest.mark.parametrize("page", ["/", "/openapi.json"])
    def test_pages(self, client: httpx.Client, page: str) -> None:
        response = client.get(page, headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
        assert "content-encoding" in response.headers


def _decompressed(raw: bytes, encoding: str, size: int) -> bytes:
    if encoding == "gzip":
        return gzip.decompress(raw)
    plain: bytes = pa.Codec("zstd").decompress(raw, size, asbytes=True)
    return plain
