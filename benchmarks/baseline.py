"""The service with one more operation: the same INSERT as a plan's, without planning.

`POST /baseline/plans/replicas` reads the same body through the same dependencies (JSON, transaction, key, idempotency),
keeps a plan that was prepared before, under a hash of its own each time, and renders it in the same way. What remains
between the two is planning, and nothing else.

`python -m benchmarks.baseline` serves it as `rackplan serve` would, on a free loopback port that it prints.
"""

from collections.abc import Callable
from dataclasses import replace
from secrets import token_hex
from typing import Annotated

import uvicorn
from fastapi import APIRouter, Body, Depends, FastAPI, Response

from app.api.http.auth import RequestLimits, Uow, json_only
from app.api.http.idempotency import OnceOnly
from app.api.planned import created
from app.api.replicas import PlaceRequest
from app.core.model import Cluster
from app.main import create_app as create_service
from app.services import replicas
from app.services.limits import Limits
from app.services.plans import Plan, draft_plan
from app.services.replicas.answers import PlanDocument
from app.store.records import NewPlan

PATH = "/baseline/plans/replicas"


def create_app() -> FastAPI:
    """The service as an ASGI application, with the baseline beside its own operations."""
    app = create_service()
    app.include_router(_router())
    return app


def _router() -> APIRouter:
    router = APIRouter()
    prepared: dict[object, NewPlan] = {}

    @router.post(PATH, status_code=201, dependencies=[Depends(json_only)], response_model=PlanDocument)
    def keep_prepared(
        uow: Uow, once: OnceOnly, limits: RequestLimits, body: Annotated[PlaceRequest, Body()]
    ) -> Response:
        def answer() -> Response:
            plan = _once(prepared, _kind(body), lambda: _planned(body, limits))
            # Labels differ from request to request as the hash does; both have the same length each time.
            new = replace(plan, hash=token_hex(32), labels=body.labels)
            return created(Plan(uow.plans.store(new), tuple(new.placements)))

        return once(answer)

    return router


def _kind(body: PlaceRequest) -> object:
    """What tells the measured requests apart, but for their labels; cheap, since each request pays for it."""
    brokers = body.brokers or []
    return body.algorithm, body.seed, body.topics[0].partitions, tuple(broker.rack for broker in brokers)


def _once(prepared: dict[object, NewPlan], kind: object, make: Callable[[], NewPlan]) -> NewPlan:
    if kind not in prepared:
        prepared[kind] = make()
    return prepared[kind]


def _planned(body: PlaceRequest, limits: Limits) -> NewPlan:
    request = body.service()
    return draft_plan(
        replicas.PLANNER, replace(request, brokers=None), Cluster("", tuple(request.brokers or ())), limits
    )


def main() -> None:
    """Print the port, then serve until told to stop."""
    config = uvicorn.Config(
        "benchmarks.baseline:create_app",
        factory=True,
        host="127.0.0.1",
        port=0,
        log_config=None,
        access_log=False,
        server_header=False,
    )
    listening = config.bind_socket()
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
