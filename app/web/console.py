"""All pages that people use, as one router: clusters, plans, sweeps, jobs, forms and the guide."""

from collections.abc import Sequence

from fastapi import APIRouter, Depends, params

from app.services.limits import Limits
from app.store.database import Database
from app.web import guide, lists
from app.web.clusters import cluster, home
from app.web.forms import requests as plan_forms
from app.web.forms import topic as topic_form
from app.web.pages import framing
from app.web.plans import page as plans
from app.web.sweeps import pages as sweeps


def router(
    database: Database,
    limits: Limits,
    requests: plan_forms.Requests,
    *,
    ancestors: Sequence[str] = (),
    dependencies: Sequence[params.Depends] = (),
    form_dependencies: Sequence[params.Depends] = (),
) -> APIRouter:
    """The pages.

    Parameters
    ----------
    requests : carries out the requests of forms. ancestors : the origins whose pages may embed them.
    dependencies : apply to every request. form_dependencies : apply also to a request that changes or stores something.
    """
    routes = APIRouter(dependencies=[*dependencies, Depends(framing(ancestors))])
    forms = list(form_dependencies)
    for pages in (
        home.router(database, limits, form_dependencies=forms),
        topic_form.router(database, limits, form_dependencies=forms),
        plan_forms.router(database, requests, max_body_bytes=limits.max_body_bytes, form_dependencies=forms),
        lists.router(database),
        sweeps.router(database, limits, form_dependencies=forms),
        plans.router(database, form_dependencies=forms),
        guide.router(),
        cluster.router(database),  # its path is of any depth, since names of clusters may have slashes
    ):
        routes.include_router(pages)
    return routes
