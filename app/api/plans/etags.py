"""The ETags of a plan."""

from app.store.records import PlanHead


def version_of(head: PlanHead) -> str:
    """The state of a plan and what is beside it; an ETag also has the media type of a representation."""
    return f"{head.hash}-{head.id}-{head.revision}"


def etag_of(head: PlanHead, media_type: str) -> str:
    """The ETag of a representation, without quotes."""
    return f"{version_of(head)}-{media_type}"
