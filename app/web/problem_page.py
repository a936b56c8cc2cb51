"""A problem as a page, for browsers that open an address or send a form that fails."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Response

from app.web.pages import page


def problem_page(document: Mapping[str, Any], status: int, headers: Mapping[str, str]) -> Response:
    """The page of a problem document. `headers` are those of the response, such as `Retry-After`."""
    shown = {**document, "detail": str(document["detail"]).rstrip(".")}
    answer = page("problem.html", status=HTTPStatus(status), problem=shown, retry_after=headers.get("Retry-After", ""))
    answer.headers.update(headers)
    return answer
