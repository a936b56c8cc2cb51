"""The OpenAPI document: it is the committed one, it runs as it stands, and its pages need no other address."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
import schemathesis

from app.api.examples import EXAMPLE_JOB_ID
from tests.api.operations import COMMITTED, DOCUMENT, IDS, OPERATIONS


def _examples(described: dict[str, Any]) -> list[Any]:
    """Every example of a parameter or a media type."""
    named = [example["value"] for example in described.get("examples", {}).values()]
    return named or described.get("schema", {}).get("examples", [])


def _bodies(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every named example of every media type, as what a client is told to send."""
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

    def test_bounds_are_whole_numbers(self) -> None:
        def bounds(schema: Any) -> Iterator[Any]:
            if isinstance(schema, dict):
                told = (schema[name] for name in ("minimum", "maximum") if name in schema)
                yield from (bound for bound in told if not isinstance(bound, dict))  # a property may be called so
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
        self, client: httpx.Client, address: str, method: str, path: str, operation: dict[str, Any]
    ) -> None:
        """What comes back fits the schema that the document has for it: status, media type and body."""
        if operation["operationId"] == "follow_job":  # no worker runs the example, whose events would not end
            client.delete(f"/v1/jobs/{EXAMPLE_JOB_ID}")
        documented = schemathesis.openapi.from_url(f"{address}/openapi.json")[path][method.upper()]
        responses = list(self._send(client, method, path, operation))
        assert responses
        for response in responses:
            assert response.is_success, response.text
            response.request.read()  # a form is a stream until then, and the validator looks at what was sent
            documented.validate_response(response)

    def test_all_of_them_in_a_row(self, client: httpx.Client) -> None:
        """As a reader tries them, one after another; what deletes comes last, and then the events of the ended job."""
        in_order = sorted(OPERATIONS, key=lambda each: (each[2]["operationId"] == "follow_job", each[0] == "delete"))
        for operation in in_order:
            for response in self._send(client, *operation):
                # The example of a sweep, which was created before, reads the snapshot that is to be deleted.
                is_in_use = operation[2]["operationId"] == "delete_snapshot" and response.status_code == 409
                assert response.is_success or is_in_use, response.text


class _References(HTMLParser):
    """Everything that a page loads or links to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 — given
        self.found += [value for name, value in attrs if name in {"src", "href", "spec-url", "action"} and value]


class TestPages:
    """Swagger UI and ReDoc work on a closed network."""

    @pytest.mark.parametrize("path", ["/docs", "/redoc"])
    def test_every_reference_is_the_services_own(self, client: httpx.Client, path: str) -> None:
        page = client.get(path)
        assert page.status_code == 200
        references = _References()
        references.feed(page.text)
        assert any(reference.endswith(".js") for reference in references.found)
        for reference in references.found:
            assert reference.startswith("/"), reference
            assert not reference.startswith("//"), reference
            assert client.get(reference).status_code == 200
        assert "http://" not in page.text
        assert "https://" not in page.text
        assert "/openapi.json" in page.text
