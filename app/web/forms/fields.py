"""Values of the fields of forms, as people type them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from fastapi import Request
from starlette.datastructures import UploadFile

from app.errors import Failure, Json
from app.formats.snapshots.pasted import Upload


class Mistaken(Exception):
    """Fields of a form that cannot be read, with the problem of each."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems


def more(typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """Further fields of a request, as a JSON object; empty with a problem if malformed."""
    text = typed.get("more", "").strip()
    if not text:
        return {}
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError as malformed:
        problems["more"] = f"This is no JSON: {malformed}."
        return {}
    if not isinstance(read, dict):
        problems["more"] = 'Enter a JSON object, such as {"topics": ["orders"]}.'
        return {}
    return read


def errors_of(failure: Failure) -> Sequence[Mapping[str, Json]]:
    """The errors of the parts of a request that a failure names."""
    named: Any = failure.context.get("errors")
    return named or [{"pointer": "/" + "/".join(map(str, failure.path)), "detail": failure.detail}]


def joined(body: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The further fields win; objects in both are joined, and so are those in them."""
    return body | {
        name: joined(body[name], value) if isinstance(value, dict) and isinstance(body.get(name), dict) else value
        for name, value in more.items()
    }


_MOST_PARTS = 100


@dataclass(frozen=True, slots=True)
class PastedTexts:
    """The fields of a form that takes texts.

    Parameters
    ----------
    cluster : empty if the form has no such field. text : the pasted one. files : names and contents.
    """

    cluster: str
    text: str
    files: Sequence[tuple[str, bytes]]

    def uploads(self) -> list[Upload]:
        """All texts. Raises `MalformedText` if a file is no text."""
        uploads = [Upload.of(content, name) for name, content in self.files]
        return [Upload(self.text), *uploads] if self.text.strip() else uploads


def texts_of(max_body_bytes: int) -> Callable[[Request], Awaitable[PastedTexts]]:
    """The dependency that reads such a form, each part of which may be as long as a body."""

    async def of_request(request: Request) -> PastedTexts:
        form = request.form(max_fields=_MOST_PARTS, max_files=_MOST_PARTS, max_part_size=max_body_bytes)
        async with form as parts:
            files = [
                (f.filename or "file", await f.read()) for f in parts.getlist("files") if isinstance(f, UploadFile)
            ]
            texts = {name: text for name in ("cluster", "text") if isinstance(text := parts.get(name), str)}
        given = [(name, content) for name, content in files if content]
        return PastedTexts(texts.get("cluster", "").strip(), texts.get("text", ""), given)

    return of_request
