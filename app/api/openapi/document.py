"""The OpenAPI document: FastAPI's own, completed."""

import json
import re
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_fields_from_routes, get_openapi
from pydantic.json_schema import models_json_schema

from app.api.http.auth import TEAM_HEADER
from app.api.models.clusters import SnapshotRequest
from app.api.openapi import response_headers
from app.api.openapi.descriptions import describe
from app.api.problems.codes import FAMILIES
from app.api.problems.models import Problem
from app.api.problems.responses import MEDIA_TYPE
from app.services.fields import INT64_MAX
from app.services.limits import Limits
from app.store import teams

TITLE = "Rackplan"
_SCHEMAS = "#/components/schemas/"
_REFERENCE = re.compile(rf'(?<="){_SCHEMAS}[^"]+')
DESCRIPTION = """\
Predict and plan the placement of Kafka replicas, consumers, Streams tasks and keys.

Post a **snapshot** of a cluster, make a **plan** on it, read the plan as JSON, a file for Kafka, a table or a picture.
The same request returns the same plan, byte for byte. Every failure is a problem document (RFC 9457) whose `errors`
point at the fields; its `code` never changes. The pages `/problems`, `/warnings` and `/violations` explain every code.

Within `/v1` operations, fields and codes are added, and nothing is removed or changes its meaning: a client ignores
fields that it does not know, and expects values that are added to enumerations. What is to be removed is marked as
deprecated and answers with `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) for six months or more. `engine_version` of
a plan is raised when any request gets another answer.

Everything belongs to the **team** of the API key that made it, and no other team sees it: what another team
has is answered 404. A key of all teams names one in the header `Rackplan-Team`. `rackplan keys` creates, lists and
revokes keys; a team exists as soon as it has one. The log of both is at `/v1/audit`.

Limits are settings of the service; a request above one is answered with a problem that names it:
"""


_TEAM = {
    "name": TEAM_HEADER,
    "in": "header",
    "required": False,
    "description": "The team to act for, if the key is one of all teams. Without it, such a key reads and deletes what "
    "every team has, and stores for `default`. A key of a team may name its own.",
    "schema": {"type": "string", "maxLength": teams.LONGEST, "pattern": teams.PATTERN},
}


def document_of(app: FastAPI, limits: Limits) -> dict[str, Any]:
    """The document of an application whose routers are all built, with its limits."""
    values = {name: getattr(limits, name) for name in Limits.numbers()}
    table = "\n".join(f"- `{name}`: {values[name]:,}. {meaning}" for name, meaning in Limits.numbers().items())
    document = get_openapi(
        title=TITLE,
        version=app.version,
        description=DESCRIPTION + table,
        routes=app.routes,
        tags=[
            {"name": "snapshots", "description": "Clusters at one moment."},
            {"name": "plans", "description": "Immutable predictions and optimised plans."},
            {"name": "checks", "description": "Verify reassignments from any source."},
            {"name": "keys", "description": "The partition of each key, in each client."},
            {"name": "jobs", "description": "Large requests, answered asynchronously."},
            {"name": "share links", "description": "Signed links that need no API key."},
            {"name": "webhooks", "description": "Signed events, delivered to your URLs."},
            {"name": "audit", "description": "Changes with their actors, and denied requests."},
            {"name": "usage", "description": "Usage of teams, with their quotas."},
            {"name": "health", "description": "Liveness, readiness and metrics."},
        ],
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    document = _named(document)
    document["info"]["x-limits"] = values
    schemas = document["components"]["schemas"]
    # These are referenced only: the body of a snapshot has three media types, and FastAPI does not know problems.
    _, extra = models_json_schema(
        [(Problem, "validation"), (SnapshotRequest, "validation")], ref_template=f"{_SCHEMAS}{{model}}"
    )
    schemas |= extra["$defs"]
    fields = get_fields_from_routes(app.routes)
    _add_codes(schemas)
    describe(schemas, [Problem, SnapshotRequest, *(field.field_info.annotation for field in fields)])
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    for path in document["paths"].values():
        for operation in path.values():
            _tidy(operation)
            response_headers.declare(operation)
    document["components"]["headers"] = response_headers.COMPONENTS
    whole: dict[str, Any] = _with_whole_bounds(document)
    return whole


def _named(document: dict[str, Any]) -> dict[str, Any]:
    """The document with every schema under its title: some records have another name in the document than in Python."""
    schemas = document["components"]["schemas"]
    titles = {f"{_SCHEMAS}{name}": f"{_SCHEMAS}{schema['title']}" for name, schema in schemas.items()}
    document["components"]["schemas"] = dict(sorted((schema["title"], schema) for schema in schemas.values()))
    text = _REFERENCE.sub(lambda reference: titles.get(reference[0], reference[0]), json.dumps(document))
    named: dict[str, Any] = json.loads(text)
    return named


def _add_codes(schemas: dict[str, Any]) -> None:
    """Replace each text that is a code by an enum of its own, with the meanings."""
    for family in FAMILIES:
        schemas[family.name] = {
            "title": family.name,
            "type": "string",
            "enum": list(family.meanings),
            "description": f"{family.title}, on the page `{family.page}`. A client has to expect codes that are added.",
            "x-enumDescriptions": dict(family.meanings),
        }
        schemas[family.schema]["properties"]["code"] = {"$ref": f"#/components/schemas/{family.name}"}


def _with_whole_bounds(schema: Any) -> Any:
    """Write bounds as integers: FastAPI writes floats, which cannot represent 2⁶³ − 1."""
    if isinstance(schema, list):
        return [_with_whole_bounds(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    bounds = {
        name: min(int(bound), INT64_MAX)
        for name, bound in schema.items()
        if name in {"minimum", "maximum"} and isinstance(bound, float) and bound.is_integer()
    }
    return {name: _with_whole_bounds(member) for name, member in schema.items()} | bounds


def _tidy(operation: dict[str, Any]) -> None:
    """FastAPI documents its own 422 and a JSON body for every problem; ours are problem documents."""
    for status, response in operation["responses"].items():
        content = response.get("content", {})
        if status[0] in "45" and MEDIA_TYPE in content:
            content.pop("application/json", None)
    if "security" in operation:
        operation.setdefault("parameters", []).append(_TEAM)
        # While no key exists the service is open, so that credentials are optional.
        operation["security"] = [{}, *({name: []} for requirement in operation["security"] for name in requirement)]
