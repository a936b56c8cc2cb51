"""Permissions of the pages, as the application decides."""

from dataclasses import dataclass

from fastapi import Depends, params

CONSOLE = "console"
"""The name of changes that pages make while the service has no API keys."""


async def _console() -> str:
    return CONSOLE


@dataclass(frozen=True, slots=True)
class Access:
    """Dependencies that reject a request, or return the name that its changes are recorded under.

    Parameters
    ----------
    read : of every page. plan : to plan or store something. sweep : to start or end
        sweeps. admin : of keys, webhooks and share links.
    may_be_open : whether anyone may do everything while there is no API key.
    """

    read: params.Depends
    plan: params.Depends
    sweep: params.Depends
    admin: params.Depends
    may_be_open: bool = True


OPEN = Access(Depends(_console), Depends(_console), Depends(_console), Depends(_console))
"""Anyone may do everything."""
