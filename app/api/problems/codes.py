"""The codes of problems, warnings and violations, with their meanings: for the OpenAPI document and the pages of codes.

Codes are never renamed, and codes are added: a client treats one that it does not know by the status or the severity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from app.api.problems.responses import PROBLEM_TABLES, status_of
from app.core.measures.violations import VIOLATIONS
from app.errors.crossing import FAILURES
from app.services.cautions import CAUTIONS

OF_HTTP: Mapping[str, tuple[HTTPStatus, str]] = {
    code: (HTTPStatus(status), meaning) for code, (status, meaning) in PROBLEM_TABLES["of_http"].items()
}
"""Codes of problems that are no failure of the domain."""


def _problems() -> Mapping[str, tuple[HTTPStatus, str]]:
    """The status and the meaning of each code of a problem, by code; an operator's failures are no problems."""
    failures = {
        code: (status, (failure.__doc__ or "").partition("\n\n")[0])
        for code, failure in FAILURES.items()
        if (status := status_of(failure)) is not None
    }
    return dict(sorted({**failures, **OF_HTTP}.items()))


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
    *(
        Codes(name, schema, "/violations", f"Violations of {what}", VIOLATIONS[of])
        for name, schema, what, of in (
            ("ViolationCode", "Violation", "a placement", "placement"),
            ("GroupViolationCode", "GroupViolation", "a group's assignment", "group"),
            ("TaskViolationCode", "TaskViolationDocument", "a task assignment", "tasks"),
        )
    ),
)
