"""NUL, which no text of Postgres can have, in every parameter of every route: no 500, and the parameter is named."""

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from app.store.database import Database
from tests.api.test_access_matrix import CLUSTER, ROUTES, address, app, examples, key, provider

__all__ = ["app", "examples", "provider"]  # fixtures

NUL = "a\0b"
TYPED = ("body", "brokers_text", "cluster", "text", "topic", "topics_text")
"""Fields of forms that are no parameters of their operation, which reads the whole form."""
PATCHED = {"status": "approved", "notes": "n", "labels": {"a": "b"}}

Route = tuple[str, str]
Sent = dict[tuple[Route, Any], httpx.Response]
Wanted = Iterator[tuple[tuple[Route, Any], str, dict[str, Any]]]
Answers = Callable[[Wanted], Sent]


@pytest.fixture
def answers(app: FastAPI, examples: Database) -> Answers:
    """The responses to requests of an administrator, by route and place of the NUL."""

    async def sent(wanted: Wanted) -> Sent:
        headers = {"Authorization": f"Bearer {key(examples, 'admin')}"}
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            return {each: await client.request(each[0][0], url, **given) for each, url, given in wanted}

    return lambda wanted: asyncio.run(sent(wanted))


@pytest.fixture
def operations(app: FastAPI) -> dict[Route, Dependant]:
    """The parameters of each route."""
    return {(method, route.path): route.dependant for route in _routes_of(app) for method in route.methods or ()}


def _routes_of(router: Any) -> Iterator[APIRoute]:
    for route in router.routes:
        if hasattr(route, "original_router"):
            yield from _routes_of(route.original_router)
        elif isinstance(route, APIRoute):
            yield route


def _names(dependant: Dependant, place: str) -> set[str]:
    """The parameters in a place of an operation and of its dependencies."""
    own = {parameter.alias for parameter in getattr(dependant, f"{place}_params")}
    return own.union(*(_names(dependency, place) for dependency in dependant.dependencies))


def test_in_a_path(answers: Answers) -> None:
    def wanted() -> Wanted:
        for each, route in ROUTES.items():
            for name in re.findall(r"{([^}]+)}", each[1]):
                yield (each, name), address(each[1].replace("{" + name + "}", "a%00b")), {"params": route.query}

    found = answers(wanted())
    assert len(found) > 50
    for each, response in found.items():
        assert (response.status_code, _pointer(response)) == (422, "#path"), each


def test_in_a_query(answers: Answers, operations: dict[Route, Dependant]) -> None:
    def wanted() -> Wanted:
        for each, route in ROUTES.items():
            names = _names(operations[each], "query") if each in operations else set()
            for name in sorted(names | route.query.keys() | {"no\0such"}):
                yield (each, name), address(each[1]), {"params": route.query | {name: NUL}}

    found = answers(wanted())
    assert len(found) > 200
    for (route, name), response in found.items():
        expected = f"#query/{name}".replace("\0", "\\x00")
        assert (response.status_code, _pointer(response)) == (422, expected), (route, name)


@pytest.mark.long
def test_in_a_form(answers: Answers, operations: dict[Route, Dependant]) -> None:
    def wanted() -> Wanted:
        for each, route in ROUTES.items():
            if route.is_form and each[0] == "POST":
                for name in sorted(_names(operations[each], "body") | (route.body or {}).keys() | {*TYPED}):
                    yield (each, name), address(each[1]), {"data": (route.body or {}) | {name: NUL}}

    found = answers(wanted())
    assert len(found) > 100
    assert {each: response.status_code for each, response in found.items() if response.status_code >= 500} == {}


def test_in_json(answers: Answers) -> None:
    def wanted() -> Wanted:
        for each, route in ROUTES.items():
            body = PATCHED if each[0] == "PATCH" else route.body
            for path in () if route.is_form else _texts(body):
                yield (each, path), address(each[1]), {"json": _replaced(body, path)}

    found = answers(wanted())
    assert len(found) > 30
    assert {each: response.status_code for each, response in found.items() if response.status_code >= 500} == {}


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/share", {"kind": "cluster", "name": NUL, "days": "1"}),
        ("/plan/replicas", {"cluster": NUL, "text": "x"}),
        ("/plan/sweep", {"cluster": NUL, "body": "{}"}),
        ("/plan/reassignment", {"cluster": NUL}),
        ("/plan/reassignment", {"cluster": NUL, "topics": "", "remove_brokers": "1"}),
    ],
)
def test_what_is_no_name_of_a_cluster(answers: Answers, path: str, form: dict[str, str]) -> None:
    (response,) = answers(iter([((("POST", path), ""), path, {"data": form})])).values()
    assert response.status_code in (200, 422)  # a form is shown again with its errors


def test_a_text_with_a_percent_sign_and_noughts_has_none(answers: Answers) -> None:
    path = f"/clusters/{CLUSTER}?state=%2500"
    (response,) = answers(iter([((("GET", path), ""), path, {})])).values()
    assert response.status_code == 200


def _pointer(response: httpx.Response) -> str:
    """The place of the first error of a problem."""
    pointer: str = response.json()["errors"][0]["pointer"]
    return pointer


def _texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of the texts in a JSON document."""
    if isinstance(value, str):
        yield path
    for name, child in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from _texts(child, (*path, name))


def _replaced(value: Any, path: tuple[Any, ...]) -> Any:
    if not path:
        return NUL
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:])
    return copy
