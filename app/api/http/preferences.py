"""`Prefer` (RFC 7240): answer with a job, and wait for its end."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request

_LONGEST_HEADER = 500
_LONGEST_DEADLINE_S = 2**31 - 1
"""What the database can store; the service has limits of its own, which hold when the job runs."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences of a request that the service knows; others are ignored, as the RFC requires.

    Parameters
    ----------
    respond_async : whether the answer is to be a job.
    wait_s : how long the request waits for the end of a job or sweep, up to the service's limit; None if it does not.
    deadline_s : the longest time of the job or sweep from its first start; None if it is the service's limit.
    """

    respond_async: bool = False
    wait_s: int | None = None
    deadline_s: int | None = None

    @property
    def applied(self) -> str:
        """The value of `Preference-Applied`."""
        numbers = {"wait": self.wait_s, "deadline": self.deadline_s}
        stated = [f"{name}={number}" for name, number in numbers.items() if number is not None]
        return ", ".join([*(["respond-async"] if self.respond_async else []), *stated])


def parsed(header: str, *, longest_wait_s: int) -> Preferences:
    """Read the header. The first of several equal preferences counts; a time that is no whole number is ignored."""
    stated: dict[str, str] = {}
    for preference in header[:_LONGEST_HEADER].split(","):
        name, _, value = preference.split(";", 1)[0].partition("=")
        stated.setdefault(name.strip().lower(), value.strip().strip('"'))
    wait, deadline = _seconds(stated, "wait"), _seconds(stated, "deadline")
    return Preferences(
        "respond-async" in stated,
        None if wait is None else min(wait, longest_wait_s),
        None if not deadline else min(deadline, _LONGEST_DEADLINE_S),
    )


def _seconds(stated: dict[str, str], name: str) -> int | None:
    text = stated.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _preferences(request: Request, longest_wait_s: int) -> Preferences:
    return parsed(", ".join(request.headers.getlist("prefer")), longest_wait_s=longest_wait_s)


async def _wait(
    request: Request,
    prefer: Annotated[  # noqa: ARG001 -- documents the header, of which there may be several
        str | None,
        Header(
            description="`wait=20`: answer when it has ended, after so many seconds at the latest (RFC 7240). "
            "`deadline=600`: a sweep that is created fails if it takes longer, in seconds."
        ),
    ] = None,
) -> Preferences:
    return _preferences(request, request.app.state.limits.max_wait_seconds)


async def _job(
    request: Request,
    prefer: Annotated[  # noqa: ARG001 -- as above
        str | None,
        Header(
            description="`respond-async`: answer 202 with a job. `respond-async, wait=20`: answer as without it if the "
            "job ends within so many seconds (RFC 7240). `deadline=600`: the job fails if it takes longer, in seconds."
        ),
    ] = None,
) -> Preferences:
    return _preferences(request, request.app.state.limits.max_wait_seconds)


WaitPreference = Annotated[Preferences, Depends(_wait)]
"""`Prefer: wait=…`, of a job or sweep."""
JobPreference = Annotated[Preferences, Depends(_job)]
"""`Prefer: respond-async, wait=…`, of a request that may become a job."""
