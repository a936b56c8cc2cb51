"""Values in the fields of forms: numbers in units, lists, lines of pairs, and codecs that are made of others."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite, nan
from typing import Any

from app.services.amounts import bytes_of, json_number, plain_number, seconds_of


@dataclass(frozen=True, slots=True)
class Codec:
    """How a part of a request is written in a field.

    Parameters
    ----------
    read : the value of a text. Raises `ValueError`. write : the text of a value, which `read` may read as another one.
    """

    read: Callable[[str], object]
    write: Callable[[Any], str]


def whole(text: str) -> int:
    """A whole number of at most 63 bits. Raises `ValueError`."""
    if text.isascii() and text.isdigit() and len(text) < 20 and int(text) < 2**63:
        return int(text)
    raise ValueError(f"Enter whole numbers, not {text[:100]!r}.")


def decimal(text: str, unit: float = 1) -> float:
    """A number in a unit; of bytes also with its own, such as 3.4 TB, and a duration such as 12 h."""
    stated = bytes_of(text) if unit > 1 else seconds_of(text)
    if isinstance(stated, int | float):
        return stated
    try:
        value = round(plain_number(text.rstrip("% ")) * unit, 12)
    except ValueError:
        value = nan
    if isfinite(value):
        return json_number(value)
    raise ValueError(f"Enter a number, not {text[:100]!r}.")


def commas(text: str) -> list[str]:
    """The texts between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def words(text: str) -> list[str]:
    """The words between blanks, commas or ends of lines."""
    return text.replace(",", " ").split()


def lines_of(text: str) -> list[str]:
    """The lines that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def wholes(text: str) -> list[int]:
    """Whole numbers between blanks or commas. Raises `ValueError`."""
    return [whole(word) for word in words(text)]


def pairs(text: str, example: str, read: Callable[[str], object] = str) -> dict[str, object]:
    """Lines `name=value`."""
    found = {}
    for line in lines_of(text):
        name, is_given, value = line.rpartition("=")
        if not is_given:
            raise ValueError(f"Write lines such as {example}; {line[:100]!r} has no =.")
        found[name.strip()] = read(value.strip())
    return found


def by_name(of: Codec, example: str, *, word: str = "", is_of_all: bool = False) -> Codec:
    """Lines `name=value`; a word in place of them or, if `is_of_all`, one value, which is that of `*`."""

    def read(text: str) -> object:
        if is_of_all and "=" not in text and text != word:
            return {"*": of.read(text)}
        return text if word and text == word else pairs(text, example, of.read)

    def write(value: Any) -> str:
        if isinstance(value, str):
            return value
        is_one = is_of_all and [*value] == ["*"]
        return of.write(value["*"]) if is_one else "\n".join(f"{name}={of.write(each)}" for name, each in value.items())

    return Codec(read, write)


def word_or(word: str, of: Codec) -> Codec:
    """A word of the request, or a value."""
    return Codec(
        lambda text: text if text == word else of.read(text),
        lambda value: value if isinstance(value, str) else of.write(value),
    )


def one_or_list(of: Codec) -> Codec:
    """A value, or several between semicolons."""
    return Codec(
        lambda text: [of.read(each.strip()) for each in text.split(";")] if ";" in text else of.read(text),
        lambda value: "; ".join(map(of.write, value)) if isinstance(value, list) else of.write(value),
    )


def flag(text: str) -> bool:
    """Yes or no. Raises `ValueError`."""
    if text not in ("yes", "no"):
        raise ValueError(f"Choose yes or no; {text[:100]!r} is neither.")
    return text == "yes"


def limit(amounts: Codec, unit: str) -> Codec:
    """An amount, which ends with a unit or is all that there may be if that is empty, or a share in percent.

    The limit may be exceeded if `soft` is after it.
    """

    def read(text: str) -> object:
        amount, is_soft = text.removesuffix("soft").strip(), text.endswith("soft")
        if amount.removesuffix("/s").endswith(unit):
            stated: dict[str, object] = {"absolute": amounts.read(amount)}
        else:
            share = decimal(amount, 0.01)
            if not is_soft:
                return share
            stated = {"share": share}
        return {**stated, "soft": True} if is_soft else stated

    def write(value: Any) -> str:
        stated = value if isinstance(value, dict) else {"share": value}
        amount = stated.get("absolute")
        text = SHARE.write(stated["share"]) if amount is None else f"{amounts.write(amount)} {unit}".strip()
        return f"{text} soft" if stated.get("soft") else text

    return Codec(read, write)


def by_directory(of: Codec, *, is_of_all: bool = False) -> Codec:
    """Lines of a broker, or `*` for all others, a directory and its value: `101 /data/d1=80`; or one value."""

    def read(text: str) -> object:
        if is_of_all and "=" not in text:
            return of.read(text)
        by_broker: dict[str, dict[str, object]] = {}
        for place, value in pairs(text, "101 /data/d1=80", of.read).items():
            broker, _, path = place.partition(" ")
            by_broker.setdefault(broker, {})[path.strip()] = value
        return by_broker

    def write(value: Any) -> str:
        if not isinstance(value, dict):
            return of.write(value)
        return "\n".join(
            f"{broker} {path}={of.write(each)}" for broker, paths in value.items() for path, each in paths.items()
        )

    return Codec(read, write)


def in_unit(unit: float) -> Codec:
    """Decimal numbers in a unit."""
    return Codec(partial(decimal, unit=unit), lambda value: f"{value / unit:.12g}")


SHARE = in_unit(0.01)
"""A share, in percent."""
