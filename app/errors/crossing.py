"""Failures as data: how one gets from an executor, which reads what strangers wrote, to the process that answers.

A failure crosses as JSON: its code, its detail and its context. It is rebuilt from the failures that there are by its
code. Nothing in the document is executed, and nothing in it is longer than is stated here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from app.errors.failure import Failure, Json
from app.errors.kafka import KafkaError, KafkaRefuses
from app.errors.quotation import detail_of, quoted

LONGEST_VALUE = 500
MOST_VALUES = 100
"""Items of one list or object of a context; more are left out."""
DEEPEST = 8
"""Levels of lists and objects in a context; what is deeper becomes text."""
LARGEST_CONTEXT = 16_384
"""Characters of a context as JSON; a larger one is left out as a whole."""


def to_json(failure: Failure) -> bytes:
    """Write a failure as JSON of at most some 20 KiB, whatever it quotes."""
    document: dict[str, Json] = {
        "code": failure.code,
        "detail": detail_of(failure),
        "path": _bounded(failure.path),
        "context": _bounded(failure.context),
    }
    if len(json.dumps(document["context"])) > LARGEST_CONTEXT:
        document["context"] = {}
    if isinstance(failure, KafkaRefuses):
        message = failure.kafka.message
        document["kafka"] = [failure.kafka.exception, None if message is None else quoted(message)]
    return json.dumps(document).encode()


def from_json(text: bytes) -> Failure:
    """Rebuild the failure that `to_json` wrote.

    Raises
    ------
    ValueError
        The document is not one of `to_json`, or names a code that no failure has.
    """
    try:
        document = json.loads(text)
        kind = known()[document["code"]]
        failure = kind.__new__(kind)
        # Subclasses ask their constructors for different things; what a failure is made of is the same for all.
        Failure.__init__(failure, str(document["detail"]), path=tuple(document["path"]), **document["context"])
        if isinstance(failure, KafkaRefuses):
            failure.kafka = KafkaError(*document["kafka"])
    except (KeyError, TypeError) as missing:
        raise ValueError(
            f"not a failure as an executor reports it: {quoted(text.decode(errors='replace'))}"
        ) from missing
    return failure


@cache
def known() -> Mapping[str, type[Failure]]:
    """Every failure that has a code, by its code."""
    return {failure.code: failure for failure in _with_code(Failure)}


def _bounded(value: Any, *, levels: int = DEEPEST) -> Json:
    """The value with texts, lists, objects and depth cut to what is stated above."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if levels and isinstance(value, Mapping):
        items = list(value.items())[:MOST_VALUES]
        return {quoted(str(name)): _bounded(inner, levels=levels - 1) for name, inner in items}
    if levels and isinstance(value, Sequence) and not isinstance(value, str):
        return [_bounded(inner, levels=levels - 1) for inner in value[:MOST_VALUES]]
    return quoted(str(value), LONGEST_VALUE)


def _with_code(failure: type[Failure]) -> Iterator[type[Failure]]:
    if hasattr(failure, "code"):
        yield failure
    for special in failure.__subclasses__():
        yield from _with_code(special)
