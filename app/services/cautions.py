"""Warnings: conditions that a caller should know and that did not prevent the answer."""

from collections.abc import Mapping, Sized
from importlib.resources import files
from string import Formatter
from typing import Any

import orjson

from app.formats.syntax.quantities import counted, first_of
from app.services.bodies import ABSENT, AnswerRecord, ListOf

NAMED_MEMBERS = 20
CAUTIONS: Mapping[str, str] = orjson.loads(files("app.services").joinpath("cautions.json").read_bytes())
"""Meaning of each warning code. Codes are part of the API contract; the lists of documents are made of this."""
TEXTS: Mapping[str, str] = orjson.loads(files("app.services").joinpath("caution_texts.json").read_bytes())
"""Texts by name: the code, and after a `.` which text of several. A value is counted (`{topics:topic}` is `2 topics`,
`{topics:#}` is 2), chooses a word by its number (`{topics:is|are}`), or its first items are named (`{topics:20}`)."""
_ABOUT = ("brokers", "members", "topics", "kafka_version")


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
        if "brokers" in about:
            about["brokers"] = tuple(sorted(about["brokers"]))
        if "members" in about:
            about["members"] = about["members"][:NAMED_MEMBERS]
        vars(self).clear()
        vars(self).update(about)


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        number = len(value) if isinstance(value, Sized) else value
        one, _, several = format_spec.partition("|")
        if several:
            return one if number == 1 else several
        if format_spec.isdigit():
            return first_of(value, int(format_spec))
        return str(number if format_spec == "#" else counted(number, format_spec) if format_spec else value)


def caution(name: str, /, **values: Any) -> Caution:
    """The warning with the text of that name in `caution_texts.json`.

    Parameters
    ----------
    values : of the names in the text; `brokers`, `members`, `topics` and `kafka_version` are the warning's fields, too.
    """
    about = {field: values[field] for field in _ABOUT if field in values}
    return Caution(name.partition(".")[0], _Words().vformat(TEXTS[name], (), values), **about)
