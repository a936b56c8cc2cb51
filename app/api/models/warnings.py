"""Warnings in answers."""

from pydantic import BaseModel


class WarningDocument(BaseModel):
    """A condition that did not prevent the answer."""

    code: str
    """Stable code of the warning."""
    detail: str
    """The warning in a sentence, with its numbers."""
    brokers: list[int] | None = None
    """Ids of the brokers that the warning is about, ascending; absent if it is about none."""
    kafka_version: str | None = None
    """The release that the warning is about."""
