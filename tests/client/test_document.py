"""The client against the OpenAPI document: every operation, every parameter, every field."""

import inspect
import json
import keyword
import pydoc
from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

import pytest

import generate
from rackplan import AsyncClient, Client, GroupPlan, Job, Plan, ReassignmentPlan, ReplicaPlan, StreamsPlan, Sweep
from rackplan.flows import iteration, operation
from tests.conftest import ROOT

DOCUMENT = json.loads((ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8"))
OPERATIONS: Mapping[str, Any] = {
    each["operationId"]: each for path in DOCUMENT["paths"].values() for each in path.values()
}
OF_THE_CLIENT = {
    # `Prefer: respond-async`
    *("submit_replicas", "submit_reassignment", "submit_group", "submit_streams", "submit_restart"),
    "submit_consumers",
    "export_scenarios",  # `list_scenarios` with another `Accept`
}
"""Methods that are no operations of their own."""
BY_ITSELF = {"page_token", "page_size", "idempotency-key", "prefer", "Rackplan-Team"}
"""Parameters that the client sends without being given them."""


def methods() -> dict[str, Any]:
    """The operations of a client, by name."""
    members = inspect.getmembers_static(Client, lambda member: isinstance(member, operation | iteration))
    return {name: member.flow for name, member in members}


def keywords(method: Any) -> set[str]:
    """The names of the arguments of an operation, the fields of a request among them."""
    names: set[str] = set()
    hints = get_type_hints(method, include_extras=True)
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            names |= set(get_type_hints(hints[parameter.name].__args__[0]))
        else:
            names.add(parameter.name)
    return names


def parameters(operation: Mapping[str, Any]) -> Iterator[str]:
    """The names of the parameters of an operation of the document."""
    for parameter in operation.get("parameters", ()):
        if parameter["name"] not in BY_ITSELF:
            name = parameter["name"].replace("-", "_")
            yield f"{name}_" if keyword.iskeyword(name) else name


def body_fields(operation: Mapping[str, Any]) -> set[str]:
    """The fields of the JSON body of an operation that has one kind of body."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    return set(DOCUMENT["components"]["schemas"][name]["properties"]) if name else set()


def test_the_generated_modules_are_of_the_document() -> None:
    """After a change of the API: `make openapi`."""
    for file, source in generate.modules(DOCUMENT).items():
        assert (ROOT / "client" / "rackplan" / file).read_text(encoding="utf-8") == source, file


def test_both_clients_have_every_operation_and_no_other() -> None:
    assert set(methods()) == set(OPERATIONS) | OF_THE_CLIENT
    assert all(hasattr(AsyncClient, name) for name in OPERATIONS)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_method_has_every_parameter_and_field_of_its_operation(name: str) -> None:
    needed = {*parameters(OPERATIONS[name]), *body_fields(OPERATIONS[name])}
    assert needed <= keywords(methods()[name])


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_method_says_what_it_does(name: str) -> None:
    assert inspect.getdoc(methods()[name])


def test_operations_of_a_document_hide_none_of_its_fields() -> None:
    for resource in (Plan, ReplicaPlan, ReassignmentPlan, GroupPlan, StreamsPlan, Job, Sweep):
        fields = {name for name in get_type_hints(resource) if not name.startswith("_")}
        assert not {name for name in fields if hasattr(resource, name)}, resource


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_help_shows_every_parameter_and_field(name: str) -> None:
    """Of a method of a client, and of its class."""
    with Client("http://127.0.0.1:1") as client:
        for shown in (getattr(client, name), getattr(Client, name)):
            assert set(inspect.signature(shown).parameters) == keywords(methods()[name])
            assert f"{name}(" in pydoc.plain(pydoc.render_doc(shown))
