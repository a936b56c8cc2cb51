"""`/audit`: what was changed, denied and exported, newest first."""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response

from app.store.audit import LONGEST, AuditFilter
from app.store.database import Database
from app.web.access import Access
from app.web.pages import page

SIZE = 40
"""Entries of a page, which is no longer than others on a phone."""
_MOST = 2**63 - 1
Text = Annotated[str, Query(max_length=LONGEST)]


def router(database: Database, access: Access) -> APIRouter:
    """The page of the audit log; it needs the right of an administrator."""
    routes = APIRouter(include_in_schema=False, dependencies=[access.admin])

    @routes.get("/audit")
    def entries(
        name: Text = "",
        action: Text = "",
        resource: Text = "",
        status: Annotated[str, Query(max_length=10)] = "",
        before: Annotated[int | None, Query(ge=0, le=_MOST)] = None,
    ) -> Response:
        typed = {"name": name.strip(), "action": action.strip(), "resource": resource.strip(), "status": status.strip()}
        problem = "" if _is_status(typed["status"]) else "An HTTP status is a number from 100 to 599."
        stated = {field: value for field, value in typed.items() if value}
        wanted = AuditFilter(
            name=stated.get("name"),
            action=stated.get("action"),
            resource=stated.get("resource"),
            status=int(stated["status"]) if "status" in stated and not problem else None,
        )
        with database.begin() as uow:
            found = uow.audit.page(wanted, before=before, size=SIZE)
        older = {**stated, "before": found.items[-1].id} if found.has_more else {}
        exported = urlencode({**({} if problem else stated), "format": "csv"})
        return page(
            "audit.html",
            status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
            entries=[] if problem else found.items,
            typed=typed,
            problem=problem,
            next_page=f"/audit?{urlencode(older)}" if older and not problem else None,
            exported=f"/v1/audit/export?{exported}",
        )

    return routes


def _is_status(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and len(text) == 3 and "100" <= text <= "599")
