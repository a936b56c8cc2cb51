"""Texts that are pasted into a form or dropped on it as files."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import Request
from starlette.datastructures import UploadFile

from app.formats.snapshots.pasted import Upload
from app.formats.syntax.lines import decode

_MOST_PARTS = 100


@dataclass(frozen=True, slots=True)
class PastedTexts:
    """The fields of a form that takes texts.

    Parameters
    ----------
    cluster : empty if the form has no such field. text : what was pasted. files : names and contents.
    """

    cluster: str
    text: str
    files: Sequence[tuple[str, bytes]]

    def uploads(self) -> list[Upload]:
        """All texts. Raises `MalformedText` if a file is no text."""
        uploads = [Upload(decode(content, name), name) for name, content in self.files]
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
