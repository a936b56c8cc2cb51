"""All pages that people use, as one router: clusters, plans, sweeps, jobs, forms and the guide."""

from collections.abc import Sequence
from typing import Protocol

from fastapi import APIRouter, Depends

from app.services.limits import Limits
from app.store.database import Database
from app.web import guide, lists, search, sharing
from app.web.access import OPEN, Access
from app.web.administration import audit, keys, webhooks
from app.web.administration.webhooks import Subscriptions
from app.web.clusters import cluster, home
from app.web.forms import check as check_form
from app.web.forms import keys as keys_form
from app.web.forms import requests as plan_forms
from app.web.pages import framing
from app.web.plans import page as plans
from app.web.sweeps import pages as sweeps


class Requests(plan_forms.Requests, keys_form.Requests, check_form.Requests, Subscriptions, Protocol):
    """Carries out the requests of forms."""


def router(
    database: Database, limits: Limits, requests: Requests, *, ancestors: Sequence[str] = (), access: Access = OPEN
) -> APIRouter:
    """The pages.

    Parameters
    ----------
    requests : carries out the requests of forms. ancestors : the origins whose pages may embed them.
    access : the permissions to read, plan and administrate.
    """
    # In this order: a share link that is valid takes the place of a key, and shows its page as a part of another one.
    flat = APIRouter()
    routes = APIRouter(dependencies=[Depends(sharing.verified(database)), access.read, Depends(framing(ancestors))])
    for pages in (
        home.router(database, limits, access),
        search.router(database),
        keys_form.router(requests, access, limits),
        check_form.router(database, requests, access, limits),
        plan_forms.router(database, requests, access, limits),
        lists.router(database, access),
        sweeps.router(database, limits, access),
        plans.router(database, limits, access),
        sharing.router(database, access, ancestors=ancestors),
        keys.router(database, access),
        webhooks.router(database, requests, access),
        audit.router(database, access),
        guide.router(),
        cluster.router(database, access),  # its path is of any depth, since names of clusters may have slashes
    ):
        flat.routes += pages.routes  # a router within a router would be matched once a level, again and again
    routes.include_router(flat)
    return routes
