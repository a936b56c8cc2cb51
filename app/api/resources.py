"""Every resource of the API by its path, in the order of the OpenAPI document."""

from fastapi import APIRouter

from app.deferred import Registry

ROUTERS = Registry[APIRouter](
    {
        "/v1/snapshots": "app.api.snapshots:router",
        "POST /v1/plans/replicas": "app.api.replicas.operation:router",
        "POST /v1/plans/reassignment": "app.api.reassignment.operation:router",
        "POST /v1/plans/group": "app.api.groups.operation:router",
        "POST /v1/plans/streams": "app.api.streams.operation:router",
        "POST /v1/plans/restart": "app.api.restarts.operation:router",
        "POST /v1/plans/consumers": "app.api.consumers.operation:router",
        "GET /v1/plans": "app.api.plans.listing:router",
        "/v1/plans": "app.api.plans.stored:router",
        "/v1/checks": "app.api.checks.operation:router",
        "/v1/keys": "app.api.keys:router",
        "/v1/sweeps": "app.api.sweeps:router",
        "/v1/jobs": "app.api.jobs:router",
        "/v1/share-links": "app.api.administration:share_links_router",
        "/v1/webhooks": "app.api.webhooks:router",
        "/v1/audit": "app.api.administration:audit_router",
        "/v1/usage": "app.api.administration:usage_router",
        "/v1/ledger": "app.api.administration:ledger_router",
    }
)
"""Routers, by the one operation that they have (`METHOD path`) or the path that they are below. A service that has just
started imports none: the first request for a path does, or the service ahead of it (`http/deferred_routers.py`)."""
