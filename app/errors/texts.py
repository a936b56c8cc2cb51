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

    def relocated(self, *, line: int | None, source: str | None, path: FieldPath) -> "MalformedText":
        """This failure at another line: that of the upload `source`, of which the text that was read is a part."""
        context = {name: value for name, value in self.context.items() if name not in ("line", "expected")}
        reason = self.detail if self.line is None else self.detail.removeprefix(f"line {self.line}: ")
        moved = MalformedText(reason, line=line, expected=self.expected, path=path, **context)
        if source is not None:
            where = source if line is None else f"line {line} of {source}"
            moved.detail = f"{where}: {reason}"
        return moved
