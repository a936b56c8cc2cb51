"""What a text or a document says wrong."""

from app.errors.failure import Failure, FieldPath, Json


class MalformedText(Failure):
    """A Kafka text, document or byte string that cannot be read; names the line (or byte) and what was expected."""

    code = "malformed_text"
    title = "The text is not what the Kafka tool prints"

    def __init__(
        self, detail: str, *, line: int | None = None, expected: str = "", path: FieldPath = (), **context: Json
    ) -> None:
        where = f"line {line}: " if line is not None else ""
        super().__init__(where + detail, path=path, line=line, expected=expected, **context)
