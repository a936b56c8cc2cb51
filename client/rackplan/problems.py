"""What can go wrong: the service's problem documents (RFC 9457) as exceptions, and a service that does not answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class RackplanError(Exception):
    """The base of everything that the client raises."""


class ServiceUnavailable(RackplanError, ConnectionError):
    """The service cannot be reached, or the connection broke or timed out, and did so on every attempt."""


class Problem(RackplanError):
    """A failure that the service states.

    Parameters
    ----------
    document : the problem document; each of its members is an attribute or in here.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document.get("detail") or document.get("title") or "the service failed")
        self.document = document

    @property
    def status(self) -> int:
        """The HTTP status; 0 for the error of a job."""
        return int(self.document.get("status", 0))

    @property
    def code(self) -> str:
        """The kind of failure, which never changes; docs/problems.md lists all."""
        return str(self.document.get("code", ""))

    @property
    def title(self) -> str:
        """The kind of failure, in words."""
        return str(self.document.get("title", ""))

    @property
    def detail(self) -> str:
        """What failed, with the values and limits."""
        return str(self.document.get("detail", ""))

    @property
    def errors(self) -> Sequence[Mapping[str, Any]]:
        """The fields that are invalid: `pointer` and `detail` of each."""
        return self.document.get("errors") or ()

    @property
    def conflict(self) -> Any:
        """Constraints that cannot be satisfied together; None if that is not the failure."""
        return self.document.get("conflict")

    @property
    def lifted_by(self) -> Any:
        """What would resolve the conflict; None if there is none."""
        return self.document.get("lifted_by")

    @property
    def request_id(self) -> str | None:
        """The id that the service's log has."""
        return self.document.get("request_id")

    def __str__(self) -> str:
        lines = [self.args[0]]
        fields = [f"{each.get('pointer', '')}: {each.get('detail', '')}" for each in self.errors]
        if len(fields) > 1 or (fields and self.args[0] not in fields[0]):
            lines += [f"  {field}" for field in fields]
        lines += [f"  {name}: {self.document[name]}" for name in ("conflict", "lifted_by") if self.document.get(name)]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.document,)


class BadRequest(Problem):
    """400: the request cannot be parsed."""


class Unauthorized(Problem):
    """401: there is no API key, or it is not valid."""


class Forbidden(Problem):
    """403: the API key lacks a scope."""


class NotFound(Problem):
    """404: there is no such resource."""


class Conflict(Problem):
    """409: the state of the resource does not allow it."""


class PreconditionFailed(Problem):
    """412: the cluster has changed since the snapshot that `if_match` names."""


class TooLarge(Problem):
    """413: the request is above a limit of the service, which `detail` names."""


class Unprocessable(Problem):
    """422: a field is invalid, or there is no such plan; `errors` and `conflict` say why."""


class TooManyRequests(Problem):
    """429: more than the service allows for this API key."""


class ServerFailed(Problem):
    """5xx: the service failed or is overloaded."""


class JobFailed(Problem):
    """A job or a sweep has failed. `status` is 0 if the job's error has none."""


class JobCancelled(RackplanError):
    """A job or a sweep was cancelled, so that there is no result."""


_OF_STATUS: Mapping[int, type[Problem]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    413: TooLarge,
    422: Unprocessable,
    429: TooManyRequests,
}


def problem_of(status: int, document: object, *, text: str) -> Problem:
    """The exception of a response: its problem document, or what a proxy in between says.

    Parameters
    ----------
    document : the response as JSON; not a dict if it has none.
    text : the response as text, of which the first line is quoted if there is no document.
    """
    if not isinstance(document, Mapping) or "code" not in document:
        first_line = next(iter(text.strip().splitlines()), "")[:200]
        document = {"code": "", "title": "", "detail": f"HTTP status {status}: {first_line!r}"}
    kind = _OF_STATUS.get(status, ServerFailed if status >= 500 else Problem)
    return kind({**document, "status": status})
