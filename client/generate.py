"""Write `rackplan/models.py` and `rackplan/requests.py` from the service's OpenAPI document (`make openapi`).

A schema that a response can contain becomes a `Record`, one that a request can contain a `TypedDict`; the values that a
query parameter may have become a `Literal`, named for the operation and the parameter.
"""

import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCUMENT = HERE.parent / "openapi" / "openapi.json"
Schema = Mapping[str, Any]

_WIDTH = 120
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_NOT_GENERATED = ("Problem", "FieldError")
"""Written by hand: `rackplan.problems` raises them."""
_OPTIONAL = {"SnapshotRequest": {"brokers"}}
"""Required fields that a method can do without: a snapshot of texts has no records."""
_HEAD = '''"""{summary} Written by `make openapi`; not edited."""

from __future__ import annotations

{imports}
'''


def modules(document: Schema) -> dict[str, str]:
    """The source of each generated module, by its file name."""
    schemas = document["components"]["schemas"]
    operations = [each for path in document["paths"].values() for each in path.values()]
    answers = [
        _content(answer) for each in operations for status, answer in each["responses"].items() if status < "400"
    ]
    bodies = [_content(each.get("requestBody", {})) for each in operations]
    models = [_record(name, schemas[name]) for name in _reachable(answers, schemas)]
    requests = [_typed_dict(name, schemas[name]) for name in _reachable(bodies, schemas)]
    return {
        "models.py": _formatted(
            _HEAD.format(
                summary="The documents of the service.",
                imports="from datetime import datetime\nfrom typing import Any, Literal, TypeAlias\n\n"
                "from rackplan.records import Record",
            ),
            models,
        ),
        "requests.py": _formatted(
            _HEAD.format(
                summary="The fields of requests.",
                imports="from collections.abc import Mapping, Sequence\n"
                "from typing import Any, Literal, Required, TypeAlias, TypedDict",
            ),
            [*_choices(operations), *requests],
        ),
    }


def _content(holder: Schema) -> Schema:
    return {"anyOf": [each["schema"] for each in holder.get("content", {}).values() if "schema" in each]}


def _reachable(roots: Iterable[Schema], schemas: Schema) -> list[str]:
    """The names of the schemas that are referenced from `roots`, directly or not, in the order of the document."""
    found: set[str] = set()
    pending = [name for root in roots for name in _references(root)]
    while pending:
        name = pending.pop()
        if name not in found and name not in _NOT_GENERATED:
            found.add(name)
            pending.extend(_references(schemas[name]))
    return [name for name in schemas if name in found]


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(reference := schema.get("$ref"), str):
            yield _name_of(reference)
        for member in schema.values():
            yield from _references(member)
    elif isinstance(schema, list):
        for item in schema:
            yield from _references(item)


def _name_of(reference: str) -> str:
    return reference.rpartition("/")[2]


def _record(name: str, schema: Schema) -> str:
    if "enum" in schema:  # a named enumeration grows, and a client takes what it does not know
        return f"{name}: TypeAlias = str\n{textwrap.dedent(_docstring(schema['description']) or '')}"
    required = set(schema.get("required", ()))
    lines = [f"class {name}(Record):", _docstring(schema.get("description", f"{name}."))]
    for field, property_ in schema.get("properties", {}).items():
        hint = annotation(property_, array="list[{}]".format, mapping="dict[str, {}]")
        optional = "" if field in required or _has(hint, "None") or hint == "Any" else " | None"
        attribute = f"{field}_" if keyword.iskeyword(field) else field
        lines += [f"    {attribute}: {hint}{optional}", _docstring(property_.get("description"))]
    return "\n".join(filter(None, lines))


def _typed_dict(name: str, schema: Schema) -> str:
    required = set(schema.get("required", ())) - _OPTIONAL.get(name, set())
    hints: dict[str, tuple[str, str | None]] = {}
    for field, property_ in schema.get("properties", {}).items():
        hint = annotation(property_, array=_sequence, mapping="Mapping[str, {}]")
        stated = f"Required[{hint}]" if field in required else hint
        hints[field] = stated, property_.get("description")
    if any(keyword.iskeyword(field) for field in hints):
        # A class cannot have such a field. What it names is quoted, since it may be defined further down.
        fields = ", ".join(f'"{field}": "{hint}"' for field, (hint, _) in hints.items())
        return f'{name} = TypedDict("{name}", {{{fields}}}, total=False)'
    lines = [f"class {name}(TypedDict, total=False):", _docstring(schema.get("description", f"{name}."))]
    for field, (hint, description) in hints.items():
        lines += [f"    {field}: {hint}", _docstring(description)]
    return "\n".join(filter(None, lines))


def _choices(operations: Iterable[Schema]) -> Iterator[str]:
    """The values that query parameters may have."""
    for operation in operations:
        for parameter in operation.get("parameters", ()):
            hint = annotation(parameter["schema"], array=_sequence, mapping="Mapping[str, {}]")
            if parameter["in"] == "query" and hint.startswith("Literal"):
                words = f"{operation['operationId']}_{parameter['name']}".split("_")
                yield f"{''.join(word.title() for word in words)}: TypeAlias = {hint.removesuffix(' | None')}"


def annotation(schema: Schema, *, array: Callable[[str], str], mapping: str) -> str:
    """The Python type of a schema.

    Parameters
    ----------
    array : the type of a list of such items.
    mapping : the type of an object of such values, with `{}` for them.
    """

    def of(member: Schema) -> str:
        return annotation(member, array=array, mapping=mapping)

    kind = schema.get("type")
    if "$ref" in schema:
        hint = _name_of(schema["$ref"])
    elif "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        hint = f"Literal[{', '.join(json.dumps(each) if isinstance(each, str) else repr(each) for each in values)}]"
    elif members := schema.get("anyOf", schema.get("oneOf")):
        parts = dict.fromkeys(part for each in members for part in _parts(of(each)))
        hint = "Any" if "Any" in parts else " | ".join(sorted(parts, key=lambda part: part == "None"))
    elif kind == "array":
        hint = array(of(schema.get("items", {})))
    elif kind == "object":
        values = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
        hint = mapping.format(" | ".join({of(each): 0 for each in values if isinstance(each, Mapping)}) or "Any")
    elif schema.get("format") == "date-time" and array is not _sequence:
        hint = "datetime"
    else:
        hint = _SCALARS.get(kind or "", "Any")
    return hint


def _sequence(item: str) -> str:
    """A list in a request. A text is a sequence of texts too, so that a list of texts is a `list`."""
    return f"list[{item}]" if _has(item, "str") else f"Sequence[{item}]"


def _parts(union: str) -> list[str]:
    """The members of a union as written, which may have unions inside brackets."""
    return re.findall(r"(?:[^|\[\]\s]+(?:\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\])?)", union)


def _has(hint: str, member: str) -> bool:
    return member in _parts(hint)


def _docstring(text: str | None) -> str | None:
    if not text:
        return None
    quoted = text.replace("\\", "\\\\").replace('"""', "'''")
    quoted += " " if quoted.endswith('"') else ""
    return textwrap.indent('"""' + "\n".join(_wrapped(quoted)) + '"""', "    ")


def _wrapped(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from textwrap.wrap(line, _WIDTH - 10, break_long_words=False) or [""]


def _formatted(head: str, definitions: Iterable[str]) -> str:
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--stdin-filename", str(HERE / "rackplan" / "x.py")]
    source = head + "\n" + "\n\n\n".join(definitions) + "\n"
    return str(subprocess.run(ruff, input=source, capture_output=True, text=True, check=True).stdout)  # noqa: S603


if __name__ == "__main__":
    for file, source in modules(json.loads(DOCUMENT.read_text(encoding="utf-8"))).items():
        (HERE / "rackplan" / file).write_text(source, encoding="utf-8")
