"""The team that a transaction acts for: whose rows it sees, and whose its new rows are.

A request acts for the team of its API key, `ALL` teams or, until its key is known, for `NONE`. Whatever runs outside of
requests, such as a worker or a command, acts for None: it sees every row, as the owner of the tables.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

DEFAULT, ALL, NONE = "default", "*", ""
"""The team of what no other team made; every team; no team at all."""
LONGEST = 63
PATTERN = rf"^[a-z0-9][a-z0-9_-]{{0,{LONGEST - 1}}}$"
_NAME = re.compile(PATTERN, re.ASCII)

_ACTING: ContextVar[str | None] = ContextVar("acting_team", default=None)


def is_name(text: str) -> bool:
    """Whether a text can be the name of a team: neither `ALL` nor `NONE` is one."""
    return _NAME.fullmatch(text) is not None


def acting() -> str | None:
    """The team that this request or job acts for."""
    return _ACTING.get()


def become(team: str) -> None:
    """Act for a team from now on in the context of the middleware, which ends with the request."""
    _ACTING.set(team)


@contextmanager
def acting_as(team: str | None) -> Iterator[None]:
    """Act for a team within the context."""
    token = _ACTING.set(team)
    try:
        yield
    finally:
        _ACTING.reset(token)
