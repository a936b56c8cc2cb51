"""`/plans` and `/jobs`: plans by cluster, topic, kind, status or label, and jobs in progress."""

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi.responses import RedirectResponse

from app.errors.failure import NotFound
from app.errors.requests import JobEnded, JobNotFound
from app.services.plans.kinds import KINDS
from app.services.plans.status import TRANSITIONS
from app.store.database import Database
from app.store.jobs import STEPS
from app.store.records import PlanFilter
from app.store.transaction import Page
from app.web.access import Access
from app.web.pages import Pages, page
from app.web.plans.selection import twins

SIZE = 25
STATES = ("queued", "running", "succeeded", "failed", "cancelled")
Text = Annotated[str, Query(max_length=300)]


def router(database: Database, access: Access) -> APIRouter:
    """The lists; cancelling a job needs the right to plan."""
    routes = Pages()

    @routes.get("/plans")
    def plans(
        cluster: Text = "", topic: Text = "", kind: Text = "", status: Text = "", label: Text = "", before: Text = ""
    ) -> Response:
        chosen = {"cluster": cluster, "topic": topic, "kind": kind, "status": status, "label": label}
        name, _, value = label.partition("=")
        selected = PlanFilter(
            kind=kind or None,
            status=status or None,
            cluster=cluster or None,
            topic=topic or None,
            labels={name: value} if label else {},
        )
        with database.begin() as uow:
            listed = uow.plans.selected(selected, before=as_id(before), size=SIZE)
            told_apart = twins(uow, listed.items)
        return page(
            "plans.html",
            chosen=chosen,
            listed=listed.items,
            twins=told_apart,
            kinds=list(KINDS),
            statuses=list(TRANSITIONS),
            next_page=next_page("/plans", chosen, listed),
        )

    @routes.get("/jobs")
    def jobs(kind: Text = "", state: Text = "", before: Text = "") -> Response:
        chosen = {"kind": kind, "state": state}
        with database.begin() as uow:
            listed = uow.jobs.page(kind=kind or None, state=state or None, before=as_id(before), size=SIZE)
            titles = uow.plans.column("title", [job.plan_id for job in listed.items])
        return page(
            "jobs.html",
            chosen=chosen,
            listed=listed.items,
            titles=titles,
            kinds=list(KINDS),
            states=STATES,
            steps=STEPS,
            next_page=next_page("/jobs", chosen, listed),
        )

    @routes.get("/jobs/{job_id}")
    def job(job_id: str) -> Response:
        with database.begin() as uow:
            job = uow.jobs.get(id_of(job_id, JobNotFound))
            return page("job.html", job=job, titles=uow.plans.column("title", [job.plan_id]), steps=STEPS)

    @routes.post("/jobs/{job_id}/cancel", dependencies=[access.plan])
    def cancel(job_id: UUID) -> Response:
        with suppress(JobEnded), database.begin() as uow:  # its page says how it ended
            uow.jobs.cancel(job_id)
        return RedirectResponse(f"/jobs/{job_id}", HTTPStatus.SEE_OTHER)

    return routes


def id_of(text: str, missing: type[NotFound]) -> UUID:
    """The id in a text. Raises `missing` if malformed."""
    if (known := as_id(text)) is None:
        raise missing(f"{text[:100]} is no id")
    return known


def as_id(text: str) -> UUID | None:
    """The id in a text, or None."""
    try:
        return UUID(text)
    except ValueError:
        return None


def next_page(path: str, chosen: Mapping[str, str], listed: Page[Any]) -> str | None:
    """The address of the next page of a list, or None."""
    if not listed.has_more:
        return None
    last = str(listed.items[-1].id)
    return f"{path}?{urlencode([*((name, value) for name, value in chosen.items() if value), ('before', last)])}"
