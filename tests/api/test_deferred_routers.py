"""Routers are built when a request needs them, and the application is the same whichever is built first."""

import asyncio
import runpy
import warnings
from collections.abc import Callable
from threading import Event

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from hypothesis import given
from hypothesis import strategies as st
from pydantic.warnings import UnsupportedFieldAttributeWarning

from app.api.http.deferred_routers import BuildRouters, DeferredRouters

OPERATIONS = {
    "POST /v1/plans/group": ("POST", "/v1/plans/group"),
    "GET /v1/plans": ("GET", "/v1/plans"),
    "/v1/plans": ("GET", "/v1/plans/{plan}"),
    "/v1/keys": ("POST", "/v1/keys/partitions"),
    "/": ("GET", "/plans"),
}
"""The only operation of each router."""
REQUESTS = {
    ("POST", "/v1/plans/group"): {"POST /v1/plans/group"},
    ("GET", "/v1/plans"): {"GET /v1/plans"},
    ("GET", "/v1/plans/7"): {"GET /v1/plans", "/v1/plans"},
    ("PUT", "/v1/plans/group"): {"POST /v1/plans/group", "GET /v1/plans", "/v1/plans"},
    ("POST", "/v1/keys/partitions"): {"/v1/keys"},
    ("GET", "/v1/keysmith"): set(),
    ("GET", "/healthz"): set(),
    ("GET", "/plans"): {"/"},
    ("GET", "/"): {"/"},
}
"""The routers that requests build, in an application that has built none."""


def application() -> tuple[FastAPI, DeferredRouters, list[str]]:
    """An application, its routers, and those that have been built."""
    built: list[str] = []

    def builder(key: str) -> Callable[[], APIRouter]:
        method, path = OPERATIONS[key]

        def build() -> APIRouter:
            router = APIRouter()
            router.add_api_route(path, lambda: key, methods=[method], name=key)
            built.append(key)
            return router

        return build

    routers = DeferredRouters({key: builder(key) for key in OPERATIONS}, apart=("/v1/", "/healthz"))
    app = FastAPI()
    for place in routers.places.values():
        app.include_router(place)
    app.add_middleware(BuildRouters, routers=routers)
    return app, routers, built


def answered(app: FastAPI, method: str, path: str) -> httpx.Response:
    async def request() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
            return await client.request(method, path)

    return asyncio.run(request())


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_a_request_builds_the_routers_that_its_path_may_be_of(method: str, path: str) -> None:
    app, routers, built = application()
    response = answered(app, method, path)
    assert set(built) == REQUESTS[method, path]
    # The answer equals one of an application that has built all.
    routers.build_all()
    again = answered(app, method, path)
    assert (again.status_code, again.text) == (response.status_code, response.text)


@given(st.permutations(list(REQUESTS)))
def test_operations_are_documented_in_one_order_whichever_is_built_first(order: list[tuple[str, str]]) -> None:
    app, routers, built = application()
    for method, path in order[:4]:
        for key in routers.ahead_of(method, path):
            routers.build(key)
    routers.build_all()
    assert sorted(built) == sorted(OPERATIONS)
    assert list(app.openapi()["paths"]) == [path for _, path in OPERATIONS.values()]
    assert not any(routers.ahead_of(method, path) for method, path in REQUESTS)


def test_a_stop_ends_the_building() -> None:
    _, routers, built = application()
    stopped = Event()
    stopped.set()
    routers.build_all(stopped)
    assert not built


def test_a_warning_that_fastapi_silences_stays_silent_when_another_thread_restores_filters() -> None:
    """`catch_warnings` restores the filters that it found, so that the module's have to be among them."""
    warning = UnsupportedFieldAttributeWarning("The 'alias' attribute with value 'body'")
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        warnings.warn(warning, stacklevel=1)
        runpy.run_module("app.api.http.deferred_routers")  # which warns that the module is there already
        with warnings.catch_warnings():
            warnings.simplefilter("always")
        warnings.warn(warning, stacklevel=1)
    assert [each.message for each in shown if each.category is UnsupportedFieldAttributeWarning] == [warning]
