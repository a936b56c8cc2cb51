"""Warnings: conditions that a caller should know and that did not prevent the answer."""

from collections.abc import Mapping
from importlib.resources import files

import orjson

from app.services.bodies import ABSENT, AnswerRecord, ListOf

NAMED_MEMBERS = 20

CAUTIONS: Mapping[str, str] = orjson.loads(files("app.services").joinpath("cautions.json").read_bytes())
"""Meaning of each warning code. Codes are part of the API contract; the lists of documents are made of this."""


class Caution(AnswerRecord, schema="WarningDocument"):
    """A condition that did not prevent the answer."""

    code: str
    """Stable code of the warning."""
    detail: str
    """The warning in a sentence, with its numbers."""
    brokers: ListOf[int] | None = ABSENT
    """Ids of the brokers that the warning is about, ascending; absent if it is about none."""
    members: ListOf[str] | None = ABSENT
    """Ids of the members that the warning is about, the first 20; absent if it is about none."""
    topics: ListOf[str] | None = ABSENT
    """Names of the topics that the warning is about; absent if it is about none."""
    kafka_version: str | None = ABSENT
    """The release that the warning is about."""

    def __post_init__(self) -> None:
        about = {name: value for name, value in vars(self).items() if value and value is not ABSENT}
        if "members" in about:
            about["members"] = about["members"][:NAMED_MEMBERS]
        vars(self).clear()
        vars(self).update(about)
