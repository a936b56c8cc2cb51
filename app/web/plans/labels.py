"""The labels of a plan as people type them: one a line, `team=payments`."""

from collections.abc import Mapping

from app.errors.quotation import quoted
from app.errors.requests import InvalidField

LONGEST_NAME, LONGEST_VALUE = 63, 255


def read(text: str) -> dict[str, str]:
    """The labels of a text.

    Raises `InvalidField` if a line has no `=`, or a name or value is too long or not printable.
    """
    labels: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, is_given, value = map(str.strip, line.partition("="))
        if not is_given or not name:
            raise InvalidField(f"write a label as team=payments; {quoted(line)} has no name or no =", path=("labels",))
        if len(name) > LONGEST_NAME or len(value) > LONGEST_VALUE or not (name + value).isprintable():
            detail = (
                f"a label has a name of 1 to {LONGEST_NAME} and a value of up to {LONGEST_VALUE} printable characters, "
                f"unlike {quoted(line)}"
            )
            raise InvalidField(detail, path=("labels",))
        labels[name] = value
    return labels


def write(labels: Mapping[str, str]) -> str:
    """The text of some labels."""
    return "\n".join(f"{name}={value}" for name, value in labels.items())
