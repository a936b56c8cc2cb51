"""Malformed texts and documents."""

from app.errors.failure import FieldPath, Json, Unprocessable


class MalformedText(Unprocessable):
    """A Kafka text, document or byte string that cannot be parsed; names the line (or offset) and what was expected."""

    title = "The text is not what the Kafka tool prints"

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
        """What the parser expected there; empty if there are several possibilities."""
        return str(self.context["expected"])
