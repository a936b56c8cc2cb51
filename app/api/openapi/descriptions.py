"""Descriptions of fields in the OpenAPI document: the string literals below them, as `FieldT` has one here.

They are read from the sources when the document is built. Pydantic's `use_attribute_docstrings` would read them at the
creation of each class, which adds 0.7 s to the import of the app, and reads none of the dataclasses of the core.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import cleandoc
from itertools import pairwise
from types import ModuleType
from typing import Any

from pydantic import BaseModel, TypeAdapter

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
        for field, description in _of_class(model).items():
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
    field = model.model_fields.get(name) if issubclass(model, BaseModel) else None
    return name if field is None else field.serialization_alias or field.alias or name


def _of_class(model: type) -> dict[str, str]:
    """The descriptions of a class and its bases; the class's own override those of its bases."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.partition(".")[0] == _ROOT:
            found |= _of_module(sys.modules[base.__module__]).get(base.__qualname__, {})
    return found


@cache
def _of_module(module: ModuleType) -> dict[str, dict[str, str]]:
    """The descriptions of attributes by class; of classes at the top of the module."""
    body = ast.parse(inspect.getsource(module)).body
    return {node.name: dict(_of_body(node.body)) for node in body if isinstance(node, ast.ClassDef)}


def _of_body(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, below in pairwise(body):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as text)):
                yield name, " ".join(cleandoc(text).split())
