"""`Prefer` (RFC 7240): answer with a job, and wait for its end."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request

_LONGEST_HEADER = 500


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences of a request that the service knows; others are ignored, as the RFC requires.

    Parameters
    ----------
    respond_async : whether the answer is to be a job.
    wait_s : how long the request waits for the end of a job or sweep, up to the service's limit; None if it does not.
    """

    respond_async: bool = False
    wait_s: int | None = None

    @property
    def applied(self) -> str:
        """The value of `Preference-Applied`."""
        wait = [] if self.wait_s is None else [f"wait={self.wait_s}"]
        return ", ".join([*(["respond-async"] if self.respond_async else []), *wait])


def parsed(header: str, *, longest_wait_s: int) -> Preferences:
    """Read the header. The first of several equal preferences counts; a wait that is no whole number is ignored."""
    stated: dict[str, str] = {}
    for preference in header[:_LONGEST_HEADER].split(","):
        name, _, value = preference.split(";", 1)[0].partition("=")
        stated.setdefault(name.strip().lower(), value.strip().strip('"'))
    wait = stated.get("wait", "")
    is_number = wait.isascii() and wait.isdigit()
    return Preferences("respond-async" in stated, min(int(wait), longest_wait_s) if is_number else None)


def _preferences(request: Request, longest_wait_s: int) -> Preferences:
    return parsed(", ".join(request.headers.getlist("prefer")), longest_wait_s=longest_wait_s)


async def _wait(
    request: Request,
    prefer: Annotated[  # noqa: ARG001 -- documents the header, of which there may be several
        str | None,
        Header(description="`wait=20`: answer when it has ended, after so many seconds at the latest (RFC 7240)."),
    ] = None,
) -> Preferences:
    return _preferences(request, request.app.state.limits.max_wait_seconds)


async def _job(
    request: Request,
    prefer: Annotated[  # noqa: ARG001 -- as above
        str | None,
        Header(
            description="`respond-async`: answer 202 with a job. `respond-async, wait=20`: answer as without it if the "
            "job ends within so many seconds (RFC 7240)."
        ),
    ] = None,
) -> Preferences:
    return _preferences(request, request.app.state.limits.max_wait_seconds)


WaitPreference = Annotated[Preferences, Depends(_wait)]
"""`Prefer: wait=…`, of a job or sweep."""
JobPreference = Annotated[Preferences, Depends(_job)]
"""`Prefer: respond-async, wait=…`, of a request that may become a job."""
