"""One thing to know about a group or an assignment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a group's records say, or that Kafka does with them, and that its users would not expect.

    Parameters
    ----------
    code : stable. detail : a sentence with names and numbers.
    member, topic : of the first case, None where there is none. count : how many cases (members, topics, partitions).
    """

    code: str
    detail: str
    member: str | None = None
    topic: str | None = None
    count: int = 1
