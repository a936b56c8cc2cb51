"""A problem as a page, for browsers that open an address or send a form that fails."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Response

from app.web.pages import page


def problem_page(
    document: Mapping[str, Any],
    status: int,
    headers: Mapping[str, str],
    *,
    sign_in: str = "",
    has_credentials: bool = True,
) -> Response:
    """The page of a problem document.

    Parameters
    ----------
    headers : of the response, such as `Retry-After`.
    sign_in : the path to return to if the page offers to sign in; empty if it does not.
    has_credentials : whether the request was sent with a key or token. If not, a 401 names a person's next step,
        where the document names the header for a program.
    """
    shown = {"errors": (), **document, "detail": str(document["detail"]).rstrip(".")}
    asks: dict[str, Any] = {"sign_in": sign_in, "no_key": status == HTTPStatus.UNAUTHORIZED and not has_credentials}
    retry_after = headers.get("Retry-After", "")
    answer = page("problem.html", status=HTTPStatus(status), problem=shown, retry_after=retry_after, **asks)
    answer.headers.update(headers)
    return answer
