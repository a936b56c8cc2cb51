"""The bases of requests: a request is the body of the API, read by services, and stored with a job.

A request is a frozen dataclass. Only pydantic checks its fields, so that Python constructs one without validation.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from dataclasses import Field as DataclassField
from functools import cache, partial, reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, cast, dataclass_transform, get_args

import pydantic_core
from pydantic import AliasChoices, BaseModel, ConfigDict, Discriminator, GetCoreSchemaHandler, Tag, TypeAdapter
from pydantic_core import CoreSchema, SchemaValidator, core_schema


@dataclass(frozen=True, slots=True)
class Read:
    """The schema of a field whose values are read as `form`, and converted."""

    form: Any
    convert: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.convert, handler.generate_schema(self.form))


def one_of(names: Collection[str]) -> Read:
    """The schema of a text that is one of the names of a registry, as of a literal."""
    return Read(Literal[tuple(names)], str)


class _AsList:
    """The schema of a sequence is a list's: pydantic's own of a sequence has other errors."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.list_schema(handler.generate_schema(get_args(source)[0]))


ItemT = TypeVar("ItemT")
RecordT = TypeVar("RecordT")
ListOf: TypeAlias = Annotated[Sequence[ItemT], _AsList()]
"""A sequence that JSON has as an array."""
WordT = TypeVar("WordT")
WordOr: TypeAlias = Annotated[
    Annotated[WordT, Tag("word")] | Annotated[RecordT, Tag("share")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "share"),
]
"""Words, or an object."""
_STRICT = ConfigDict(extra="forbid", strict=True)


class Request(BaseModel):
    """Base of request models: unknown fields are rejected, and strings are not converted to numbers."""

    model_config = _STRICT


class RequestRecord:
    """Base of frozen dataclasses that are requests or parts of them: the body of the API, read by services.

    As of `Request`, unknown fields are rejected, and strings are not converted to numbers. `schema` is the name in the
    OpenAPI document. Only pydantic checks the fields: a record that Python constructs is not validated.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    def __init_subclass__(cls, schema: str | None = None) -> None:
        cls.__pydantic_config__ = ConfigDict(**_STRICT, title=schema or cls.__name__)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        # A strict dataclass takes instances alone; its fields stay strict.
        cast("core_schema.DataclassSchema", handler.resolve_ref_schema(schema))["strict"] = False
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        """The schema with the former names of fields, which are deprecated."""
        found: dict[str, Any] = handler(schema)
        properties = handler.resolve_ref_schema(found).get("properties", {})
        for name, *former in map(names_in_json, fields(cast("Any", cls))):
            for other in former:
                properties[other] = {**properties[name], "deprecated": True, "description": f"As `{name}`."}
        return found


@cache
def reader_of_stored(reader: TypeAdapter[RecordT]) -> Callable[[Any], RecordT]:
    """Reads a request that was validated when it was stored: bounds of today and fields of other releases count for
    nothing.
    """
    validate = SchemaValidator(_unbounded(reader.core_schema)).validate_python
    read: Callable[[Any], RecordT] = partial(validate, strict=False, extra="ignore", by_alias=False, by_name=True)
    return read


_BOUNDS = frozenset({"pattern", "min_length", "max_length", "ge", "gt", "le", "lt"})


def _unbounded(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {name: _unbounded(member) for name, member in schema.items() if name not in _BOUNDS}
    return [*map(_unbounded, schema)] if isinstance(schema, list) else schema


ABSENT: Any = pydantic_core.MISSING
"""The value of a field that an answer leaves out; as a default, of a field that may be absent."""


def _without_final(name: str) -> str:
    return name.removesuffix("_")


@dataclass_transform(frozen_default=True)
class AnswerRecord:
    """Base of answers and their parts: a subclass is a frozen dataclass, which JSON and OpenAPI derive from.

    orjson writes the `vars` of a dataclass, so that a field whose value is `ABSENT` is not there, and `from_` is
    written as `from`, which is a keyword of Python: such a field is written, not read. `schema` is the name in the
    OpenAPI document.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict()

    def __init_subclass__(cls, schema: str | None = None, kw_only: bool = False) -> None:
        cls.__pydantic_config__ = ConfigDict(title=schema or cls.__name__, alias_generator=_without_final)
        dataclass(frozen=True, kw_only=kw_only)(cls)

    @classmethod
    def of(cls, source: object, **stated: Any) -> Self:
        """The record whose fields are the stated ones, and those attributes that `source` has of the same names."""
        names = [one.name for one in fields(cast("Any", cls)) if one.name not in stated and hasattr(source, one.name)]
        return cls(**{name: getattr(source, name) for name in names}, **stated)

    def __post_init__(self) -> None:
        values = {_without_final(name): value for name, value in vars(self).items() if value is not ABSENT}
        vars(self).clear()
        vars(self).update(values)


def request_fields() -> Iterator[Collection[str]]:
    """The names of the fields of every request, and of every part of one that is an object."""
    for model in _subclasses(Request):
        yield model.model_fields.keys()
    for record in _subclasses(RequestRecord):
        yield {names_in_json(field)[0] for field in fields(record)}


def names_in_json(member: DataclassField[Any]) -> Sequence[str]:
    """The name of a field in JSON, then its former ones."""
    notes = getattr(member.type, "__metadata__", ())
    aliases = (note.validation_alias for note in notes if getattr(note, "validation_alias", None))
    alias = next(aliases, _without_final(member.name))
    return [*map(str, alias.choices)] if isinstance(alias, AliasChoices) else [alias]


def stated(value: Any) -> Any:
    """A request as plain values, without defaults."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_none=True, by_alias=True, exclude_defaults=True)
    if is_dataclass(value):
        values = {field.name: getattr(value, field.name) for field in fields(value)}
        defaults = {
            field.name: field.default if field.default_factory is MISSING else field.default_factory()
            for field in fields(value)
        }
        return {name: stated(one) for name, one in values.items() if one is not None and one != defaults[name]}
    if isinstance(value, Mapping):
        return {name: stated(one) for name, one in value.items()}
    return [*map(stated, value)] if isinstance(value, list | tuple) else value


def _subclasses(base: Any) -> Iterator[Any]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def one_event_of(*events: type[BaseModel]) -> Any:
    """The type of an event: one of these models, each of which has one field, whose name is its tag."""
    tagged = {name: Annotated[event, Tag(name)] for event in events for name in event.model_fields}
    message = f"An event is an object of one field, which names it: {', '.join(tagged)}"
    known = Discriminator(_only_field, custom_error_type="event", custom_error_message=message)
    return Annotated[reduce(or_, tagged.values()), known]


def _only_field(value: object) -> str | None:
    """The name of the only field of an object, as the discriminator of a union; None if it has several."""
    named = list(value) if isinstance(value, dict) else list(getattr(value, "model_fields_set", ()))
    return named[0] if len(named) == 1 else None
