"""Malformed texts, documents and bytes."""

from app.errors.failure import FieldPath, Json, Unprocessable


class MalformedText(Unprocessable):
    """A text, document or byte string of Kafka cannot be read; names the line or byte offset and what was expected."""

    title = "The text or bytes are malformed"

    def __init__(
        self, detail: str, *, line: int | None = None, expected: str = "", path: FieldPath = (), **context: Json
    ) -> None:
        where = f"line {line}: " if line is not None else ""
        super().__init__(where + detail, path=path, line=line, expected=expected, **context)

    @property
    def line(self) -> int | None:
        """The line, from 1; None if the text has no lines."""
        line = self.context["line"]
        return line if isinstance(line, int) else None

    @property
    def expected(self) -> str:
        """What the reader expected there; empty if it is not one thing."""
        return str(self.context["expected"])
