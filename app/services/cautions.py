"""Warnings: conditions that a caller should know and that did not prevent the answer."""

from dataclasses import dataclass

from app.errors import Json

NAMED_MEMBERS = 20


@dataclass(frozen=True, slots=True)
class Caution:
    """One entry of an answer's `warnings`. `code` is stable; `brokers`, `members`, `topics` and
    `kafka_version` name what it is about.

    Of members the first `NAMED_MEMBERS` are named.
    """

    code: str
    detail: str
    brokers: tuple[int, ...] = ()
    members: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    kafka_version: str = ""

    def as_json(self) -> dict[str, Json]:
        """The document of the API; what is empty is left out."""
        about: dict[str, Json] = {
            "brokers": self.brokers,
            "members": self.members[:NAMED_MEMBERS],
            "topics": self.topics,
            "kafka_version": self.kafka_version,
        }
        return {"code": self.code, "detail": self.detail} | {name: named for name, named in about.items() if named}
