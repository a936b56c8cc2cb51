"""The codes of problems, warnings and violations, with their meanings: for the OpenAPI document and the pages of codes.

Codes are never renamed, and codes are added: a client treats one that it does not know by the status or the severity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType

from app.api.problems.responses import status_of
from app.core.groups.measures.violations import VIOLATIONS as GROUP_VIOLATIONS
from app.core.measures.violations import VIOLATIONS
from app.core.streams.violations import VIOLATIONS as TASK_VIOLATIONS
from app.errors.crossing import FAILURES
from app.services.cautions import CAUTIONS

OF_HTTP: Mapping[str, tuple[HTTPStatus, str]] = MappingProxyType(
    {
        "malformed_body": (HTTPStatus(400), "The body cannot be parsed; names the place."),
        "unauthorized": (HTTPStatus(401), "The credentials of the request cannot be read."),
        "not_found": (HTTPStatus(404), "The path is not one of the service."),
        "method_not_allowed": (HTTPStatus(405), "The path does not take the method; `Allow` has those."),
        "request_timeout": (
            HTTPStatus(408),
            "The head or the body of the request was not complete in time; the connection has ended.",
        ),
        "request_header_fields_too_large": (
            HTTPStatus(431),
            "The request line and the headers are longer than 64 KiB together.",
        ),
        "internal_error": (
            HTTPStatus(500),
            "A defect of the service, which logs it with the request id, or a state of its machine.",
        ),
    }
)
"""Codes of problems that are no failure of the domain."""


def _problems() -> Mapping[str, tuple[HTTPStatus, str]]:
    """The status and the meaning of each code of a problem, by code; an operator's failures are no problems."""
    failures = {
        code: (status, (failure.__doc__ or "").partition("\n\n")[0])
        for code, failure in FAILURES.items()
        if (status := status_of(failure)) is not None
    }
    return MappingProxyType(dict(sorted({**failures, **OF_HTTP}.items())))


PROBLEMS = _problems()


@dataclass(frozen=True, slots=True)
class Codes:
    """A family of codes.

    Parameters
    ----------
    name : of the enum in the document. schema : whose property `code` it is.
    page : the path of the page with a table of them. title : of the table.
    meanings : by code. statuses : the HTTP status of each code of a problem.
    """

    name: str
    schema: str
    page: str
    title: str
    meanings: Mapping[str, str]
    statuses: Mapping[str, int] = field(default_factory=dict)


FAMILIES = (
    Codes(
        "ProblemCode",
        "Problem",
        "/problems",
        "Codes of problems",
        {code: meaning for code, (_, meaning) in PROBLEMS.items()},
        {code: status.value for code, (status, _) in PROBLEMS.items()},
    ),
    Codes("WarningCode", "WarningDocument", "/warnings", "Codes of warnings", CAUTIONS),
    Codes("ViolationCode", "Violation", "/violations", "Violations of a placement", VIOLATIONS),
    Codes(
        "GroupViolationCode", "GroupViolation", "/violations", "Violations of a group's assignment", GROUP_VIOLATIONS
    ),
    Codes(
        "TaskViolationCode", "TaskViolationDocument", "/violations", "Violations of a task assignment", TASK_VIOLATIONS
    ),
)
