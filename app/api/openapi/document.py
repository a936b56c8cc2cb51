"""The OpenAPI document: FastAPI's own, completed.

Descriptions of fields in the OpenAPI document, and of settings: the string literals below them.

They are read from the sources when the document is built. Pydantic's `use_attribute_docstrings` would read them at the
creation of each class, which adds 0.7 s to the import of the app, and reads none of the dataclasses of the core.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.resources import files
from inspect import cleandoc
from itertools import pairwise
from threading import Lock
from types import ModuleType
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_fields_from_routes, get_openapi
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from app.api.http.auth import TEAM_HEADER
from app.api.models.clusters import SnapshotRequest
from app.api.openapi import response_headers
from app.api.problems.codes import FAMILIES
from app.api.problems.models import Problem
from app.api.problems.responses import MEDIA_TYPE
from app.formats.syntax.garbage import uncollected
from app.services.bodies import names_in_json
from app.services.fields import INT64_MAX
from app.services.limits import Limits
from app.store import transaction

_BELOW = ("default", "examples")
_ROOT = __name__.partition(".")[0]


def describe(schemas: Mapping[str, Any], types: list[Any]) -> None:
    """Add the descriptions of fields to the schemas of `types` and of all that these consist of.

    Parameters
    ----------
    schemas : JSON schemas by their name.
    """
    for name, model in {_name(one): one for of in types for one in _models(TypeAdapter(of).core_schema)}.items():
        properties = schemas.get(name, {}).get("properties", {})
        for field, description in of_class(model).items():
            if (shown := _alias(model, field)) in properties:
                # In the place that FastAPI gives the description of a `Field`.
                below = {member: properties[shown].pop(member) for member in _BELOW if member in properties[shown]}
                properties[shown] |= {"description": description} | below


def _models(schema: Any) -> Iterator[type]:
    """Every model and dataclass in a core schema."""
    if isinstance(schema, Mapping):
        if schema.get("type") in ("model", "dataclass"):
            yield schema["cls"]
        # Metadata are no schemas; they refer back to the class.
        schema = [member for name, member in schema.items() if name != "metadata"]
    if isinstance(schema, list | tuple):
        for member in schema:
            yield from _models(member)


def _name(model: type) -> str:
    title: str | None = getattr(model, "__pydantic_config__", {}).get("title")
    return title or model.__name__


def _alias(model: type, name: str) -> str:
    if is_dataclass(model):
        return next((names_in_json(one)[0] for one in fields(model) if one.name == name), name)
    field = model.model_fields.get(name) if issubclass(model, BaseModel) else None
    return name if field is None else field.serialization_alias or field.alias or name


def of_class(model: type) -> dict[str, str]:
    """The descriptions of a class and its bases; the class's own override inherited ones."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.partition(".")[0] == _ROOT:
            found |= _of_module(sys.modules[base.__module__]).get(base.__qualname__, {})
    return found


_PARSER = Lock()
"""Before 3.11.8 and 3.12.2 CPython counts the depth of syntax trees for all threads together, and fails if two of them
make one at a time: another thread, as of Jinja, may begin one in a collection of garbage.
"""


@cache
def _of_module(module: ModuleType) -> dict[str, dict[str, str]]:
    """The descriptions of attributes by class; of classes at the top of the module."""
    source = inspect.getsource(module)
    with _PARSER, uncollected():
        body = ast.parse(source).body
    return {node.name: dict(_of_body(node.body)) for node in body if isinstance(node, ast.ClassDef)}


def _of_body(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, below in pairwise(body):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as text)):
                yield name, " ".join(cleandoc(text).split())


TITLE = "Rackplan"
_SCHEMAS = "#/components/schemas/"
_REFERENCE = re.compile(rf'(?<="){_SCHEMAS}[^"]+')
DESCRIPTION = files("app.api.openapi").joinpath("description.md").read_text(encoding="utf-8")


_TABLE = json.loads(files("app.api.openapi").joinpath("document.json").read_bytes())
"""Tags with their descriptions, and the header with which a key of all teams acts for one."""
_PATTERN = {"maxLength": transaction.LONGEST, "pattern": transaction.PATTERN}
_TEAM = {"name": TEAM_HEADER, **_TABLE["team"], "schema": {"type": "string", **_PATTERN}}


def document_of(app: FastAPI, limits: Limits) -> dict[str, Any]:
    """The document of an application whose routers are all built, with its limits."""
    values, meanings = {name: getattr(limits, name) for name in Limits.numbers()}, of_class(Limits)
    table = "\n".join(f"- `{name}`: {value:,}. {meanings[name]}" for name, value in values.items())
    document = get_openapi(
        title=TITLE,
        version=app.version,
        description=DESCRIPTION + table,
        routes=app.routes,
        tags=_TABLE["tags"],
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
