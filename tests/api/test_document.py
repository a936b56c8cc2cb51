"""The OpenAPI document: it is the committed one, says everything that it should, and its examples run unchanged."""

import ast
import gc
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from app.api.examples import EXAMPLE_JOB_ID, EXAMPLE_PLAN_ID, EXAMPLE_SHARE_LINK_ID
from app.api.openapi import document
from app.api.problems.codes import FAMILIES, PROBLEMS, Codes
from app.api.problems.models import Problem
from app.services.cautions import CAUTIONS
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.operations import COMMITTED, DOCUMENT, IDS, OPERATIONS, codes_of
from tests.conftest import ROOT

if TYPE_CHECKING:
    from schemathesis.schemas import BaseSchema


def _examples(described: dict[str, Any]) -> list[Any]:
    """Every example of a parameter or a media type."""
    named = [example["value"] for example in described.get("examples", {}).values()]
    return named or described.get("schema", {}).get("examples", [])


def _bodies(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every named example of every media type, as a client's request."""
    content = operation.get("requestBody", {}).get("content", {})
    for media_type, described in content.items():
        for value in _examples(described):
            if media_type == "application/json":
                yield {"json": value}
            elif media_type == "multipart/form-data":
                yield {"files": {name: (None, text) for name, text in value.items()}}
            else:
                yield {"content": value, "headers": {"Content-Type": media_type}}
    if not content:
        yield {}


def _undescribed(schemas: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, schema in schemas.items():
        if not schema.get("description"):
            yield name, ""
        yield from ((name, field) for field, of in schema.get("properties", {}).items() if not of.get("description"))


_OF_HTTP = {"connection", "content-encoding", "content-length", "content-type", "date", "transfer-encoding", "vary"}
_OF_HTTP |= {"cache-control", "server", "x-accel-buffering", "x-content-type-options"}
"""Headers of responses that no client of the API has a use for."""


class TestDocument:
    """`openapi/openapi.json`."""

    def test_the_service_has_the_committed_one(self, client: httpx.Client) -> None:
        """`make openapi` writes it anew."""
        served = client.get("/openapi.json").json()
        assert json.dumps(served, indent=2, ensure_ascii=False) + "\n" == COMMITTED
        assert served["openapi"].startswith("3.1.")

    def test_operation_ids_are_unique_and_readable(self) -> None:
        """Generated clients name their methods after them."""
        assert len(set(IDS)) == len(IDS)
        assert all(name.replace("_", "").isalpha() and name.islower() and "v1" not in name for name in IDS)

    @pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=IDS)
    def test_every_operation_is_described(self, method: str, path: str, operation: dict[str, Any]) -> None:
        assert operation["summary"]
        assert operation["description"]
        assert operation["tags"]
        parameters = operation.get("parameters", [])
        assert all(_examples(parameter) for parameter in parameters if parameter["in"] == "path")
        for media_type, described in operation.get("requestBody", {}).get("content", {}).items():
            assert _examples(described), media_type
        if path.startswith("/v1/"):
            assert {"400", "401", "403", "422", "500"} <= set(operation["responses"]), method
            for status, response in operation["responses"].items():
                if status[0] in "45":
                    assert list(response["content"]) == ["application/problem+json"]

    def test_everything_has_a_description(self) -> None:
        """Schemas, their properties, parameters, headers and the parts of forms."""
        components = DOCUMENT["components"]
        undescribed = {*_undescribed(components["schemas"]), *_undescribed(components["headers"])}
        for method, path, operation in OPERATIONS:
            where = f"{method} {path}"
            undescribed |= {(where, p["name"]) for p in operation.get("parameters", []) if not p.get("description")}
            for media_type, described in operation.get("requestBody", {}).get("content", {}).items():
                undescribed |= set(_undescribed({f"{where} {media_type}": {"description": "-", **described["schema"]}}))
        assert not undescribed

    def test_a_description_says_more_than_the_name(self) -> None:
        for name, schema in DOCUMENT["components"]["schemas"].items():
            for field, described in schema.get("properties", {}).items():
                words = described["description"].lower().strip(" .").removeprefix("the ")
                assert words != field.replace("_", " "), (name, field)

    def test_names_of_schemas_are_names_of_classes(self) -> None:
        """Two models of one name would have their modules in the names, and input and output would differ in name."""
        assert all(name.isidentifier() and "__" not in name for name in DOCUMENT["components"]["schemas"])

    @pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=IDS)
    def test_every_problem_has_its_codes(self, method: str, path: str, operation: dict[str, Any]) -> None:
        """Each status of an operation lists codes, which have that status."""
        for status, response in operation["responses"].items():
            if status[0] in "45" and path.startswith("/v1/"):
                codes = codes_of(method, path, int(status))
                assert codes
                assert all(PROBLEMS[code][0] == int(status) for code in codes)
                assert all(f"`{code}`" in response["description"] for code in codes)

    def test_every_warning_of_the_sources_is_in_the_enum(self) -> None:
        sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))
        assert set(re.findall(r'[Cc]aution\(\s*"([a-z_]+)', sources)) <= set(CAUTIONS)

    def test_every_code_of_a_problem_is_explained(self) -> None:
        described = DOCUMENT["components"]["schemas"]["ProblemCode"]
        assert described["enum"] == list(described["x-enumDescriptions"]) == list(PROBLEMS)
        assert {"conflict", "lifted_by", "limit", "kafka_exception"} <= set(
            DOCUMENT["components"]["schemas"]["Problem"]["properties"]
        )

    def test_bounds_are_whole_numbers(self) -> None:
        def bounds(schema: Any) -> Iterator[Any]:
            if isinstance(schema, dict):
                values = (schema[name] for name in ("minimum", "maximum") if name in schema)
                yield from (bound for bound in values if not isinstance(bound, dict))  # a property may be called so
                for member in schema.values():
                    yield from bounds(member)
            elif isinstance(schema, list):
                for item in schema:
                    yield from bounds(item)

        found = list(bounds(DOCUMENT["components"]["schemas"]))
        assert all(isinstance(bound, int) for bound in found)
        assert {2**31 - 1, 2**63 - 1, -(2**63)} <= set(found)

    def test_every_limit_is_stated(self) -> None:
        limits = DOCUMENT["info"]["x-limits"]
        assert {"max_body_bytes", "max_partitions", "max_brokers"} <= set(limits)
        assert all(f"`{name}`: {limit:,}" in DOCUMENT["info"]["description"] for name, limit in limits.items())


@pytest.fixture(scope="module")
def documented(address: str) -> "BaseSchema":
    """The document of the service as schemathesis reads it, which takes a second to import."""
    from schemathesis import openapi  # noqa: PLC0415

    return openapi.from_url(f"{address}/openapi.json")


class TestExamples:
    """Every operation, sent as its documentation says, against the running service."""

    def _send(
        self, client: httpx.Client, method: str, path: str, operation: dict[str, Any]
    ) -> Iterator[httpx.Response]:
        parameters = operation.get("parameters", [])
        in_path = {p["name"]: _examples(p)[0] for p in parameters if p["in"] == "path"}
        query = {p["name"]: _examples(p)[0] for p in parameters if p["in"] == "query" and _examples(p)}
        for body in _bodies(operation):
            yield client.request(method, path.format(**in_path), params=query, **body)

    @pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=IDS)
    def test_each_answers_2xx_and_what_it_says(
        self,
        client: httpx.Client,
        database: Database,
        documented: "BaseSchema",
        method: str,
        path: str,
        operation: dict[str, Any],
    ) -> None:
        """The response fits its schema in the document: status, media type and body."""
        if operation["operationId"] == "follow_job":  # no worker runs the example, whose events would not end
            client.delete(f"/v1/jobs/{EXAMPLE_JOB_ID}")
        if operation["operationId"] == "revoke_share_link":
            self._store_share_link(database)
        responses = list(self._send(client, method, path, operation))
        assert responses
        for response in responses:
            assert response.is_success, response.text
            response.request.read()  # a form is a stream until then, and the validator looks at the sent body
            documented[path][method.upper()].validate_response(response)
            declared = {name.lower() for name in operation["responses"][str(response.status_code)]["headers"]}
            assert set(response.headers) - _OF_HTTP <= declared

    def _store_share_link(self, database: Database) -> None:
        """The link of the example, which no service stores: it would be in every list."""
        until = datetime.now(UTC) + timedelta(days=1)
        with database.begin() as uow:
            uow.share_links.create(
                "plan", str(EXAMPLE_PLAN_ID), team="default", expires_at=until, link_id=EXAMPLE_SHARE_LINK_ID
            )

    def test_all_of_them_in_a_row(self, client: httpx.Client, database: Database) -> None:
        """As a reader tries them, one after another; deletions come last, and then the events of the ended job."""
        in_order = sorted(OPERATIONS, key=lambda each: (each[2]["operationId"] == "follow_job", each[0] == "delete"))
        for operation in in_order:
            if operation[2]["operationId"] == "revoke_share_link":
                self._store_share_link(database)
            for response in self._send(client, *operation):
                # The example of a sweep, which was created before, reads the snapshot that is to be deleted.
                is_in_use = operation[2]["operationId"] == "delete_snapshot" and response.status_code == 409
                assert response.is_success or is_in_use, response.text


class TestServed:
    """`/openapi.json` is built once, compressed, and sent again only if it has changed."""

    def test_compressed(self, client: httpx.Client) -> None:
        plain = client.get("/openapi.json", headers={"Accept-Encoding": "identity"})
        compressed = client.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        assert compressed.headers["content-encoding"] == "gzip"
        assert int(compressed.headers["content-length"]) * 5 < int(plain.headers["content-length"])
        assert compressed.content == plain.content
        assert "Accept-Encoding" in plain.headers["vary"]

    def test_not_modified(self, client: httpx.Client) -> None:
        etag = client.get("/openapi.json").headers["etag"]
        again = client.get("/openapi.json", headers={"If-None-Match": f'"other", {etag}'})
        assert (again.status_code, again.content) == (304, b"")
        assert client.get("/openapi.json", headers={"If-None-Match": '"other"'}).status_code == 200

    def test_a_problem_links_to_its_explanation(self, client: httpx.Client) -> None:
        document = client.get("/v1/nothing").json()
        page, _, code = document["type"].partition("#")
        assert f'<tr id="{code}">' in client.get(page).text

    @pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
    def test_the_page_of_codes(self, client: httpx.Client, family: Codes) -> None:
        text = client.get(family.page).text
        assert all(f'<tr id="{code}">' in text for code in family.meanings)


def test_a_service_stores_no_example_unless_a_setting_asks_for_it(scratch: Database, serve: Serve) -> None:
    """Neither at its first start nor at a later one; resources that the document's examples name are then absent."""
    client = serve(scratch, examples=False)
    lists = ("snapshots", "plans", "jobs", "sweeps", "webhooks")
    assert [client.get(f"/v1/{name}").json()["items"] for name in lists] == [[]] * len(lists)
    assert "No cluster yet" in client.get("/").text
    assert serve(scratch).get(f"/v1/plans/{EXAMPLE_PLAN_ID}").status_code == 200


def test_nothing_is_collected_while_a_source_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection may let another thread make a syntax tree, which CPython 3.11.7 does not survive."""
    began: list[str] = []
    parse = ast.parse

    def observed(*source: Any) -> Any:
        began.clear()
        tree = parse(*source)
        assert began == []
        return tree

    monkeypatch.setattr(ast, "parse", observed)
    threshold = gc.get_threshold()
    gc.callbacks.append(lambda phase, _: began.append(phase))
    gc.set_threshold(50)
    try:
        document._of_module.cache_clear()
        assert document.of_class(Problem)
        gc.collect()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.pop()
    assert began != []
    assert gc.isenabled()
