"""Serialise failures as JSON, so that executors, which read untrusted data, report them to the process that answers.

The document has the code, the detail and the context of a failure. Its code selects the class that is rebuilt, from
`FAILURES`. Nothing in the document is executed, and nothing in it is longer than the limits below.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.errors import access, kafka, machine, reassignments, requests
from app.errors.failure import Failure, Json
from app.errors.kafka import KafkaError, KafkaRefuses
from app.errors.quotation import detail_of, quoted

_MODULES = (access, kafka, requests, machine, reassignments)

FAILURES: Mapping[str, type[Failure]] = {
    failure.code: failure
    for module in _MODULES
    for failure in vars(module).values()
    # Categories have no code of their own; a failure that a module imports is the same class a second time.
    if isinstance(failure, type) and issubclass(failure, Failure) and "code" in vars(failure)
}


LONGEST_VALUE = 500
MOST_VALUES = 100
"""Items of one list or object of a context; further ones are omitted."""
DEEPEST = 8
"""Levels of lists and objects in a context; deeper values become text."""
LARGEST_CONTEXT = 16_384
"""Characters of a context as JSON; a larger one is omitted entirely."""


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
        The document does not come from `to_json`, or names a code that no failure has.
    """
    try:
        document = json.loads(text)
        kind = FAILURES[document["code"]]
        failure = kind.__new__(kind)
        # The constructors of subclasses take different arguments; the attributes are the same for all.
        Failure.__init__(failure, str(document["detail"]), path=tuple(document["path"]), **document["context"])
        if isinstance(failure, KafkaRefuses):
            failure.kafka = KafkaError(*document["kafka"])
    except (KeyError, TypeError) as malformed:
        raise ValueError(
            f"not a failure as an executor reports it: {quoted(text.decode(errors='replace'))}"
        ) from malformed
    return failure


def _bounded(value: Any, *, levels: int = DEEPEST) -> Json:
    """The value with texts, lists, objects and depth cut to the limits above."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if levels and isinstance(value, Mapping):
        items = list(value.items())[:MOST_VALUES]
        return {quoted(str(name)): _bounded(inner, levels=levels - 1) for name, inner in items}
    if levels and isinstance(value, Sequence) and not isinstance(value, str):
        return [_bounded(inner, levels=levels - 1) for inner in value[:MOST_VALUES]]
    return quoted(str(value), LONGEST_VALUE)
