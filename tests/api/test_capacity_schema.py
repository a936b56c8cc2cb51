"""The documented schema of a scenario and the core's reading of it are one: the same fields and the same bounds.

The models document and validate a request; numbers and flags are made of the fields that the core declares. The core
validates a section again after the values of axes have been written into it, because the models never see those.
"""

import math
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from app.api.sweeps.capacity import BaseRequest, TopicLoadRequest
from app.core.capacity.sections import READERS, SECTION_FIELDS, TOPIC_FIELDS
from app.errors.requests import ConflictingFields, ImpossibleValue
from tests.core.capacity.small_scenarios import base, topic

SCENARIO = base(
    rereplication={"throttle_bytes_per_s": 0},
    placement={"algorithm": "striped"},
    clients={"follower_fetching": False},
    traffic={"growth_per_month": 0},
    targets={"disk": 1},
    prices={"replication_billed": True},
    restart={"per": "broker"},
)


def model_of(section: str) -> type[BaseModel] | None:
    """The model of a section that is an object."""
    annotation = BaseRequest.model_fields[section].annotation
    models = [one for one in (annotation, *get_args(annotation)) if isinstance(one, type)]
    return next((one for one in models if issubclass(one, BaseModel)), None)


def extremes(schema: dict[str, Any]) -> Iterator[float]:
    """The smallest and the largest number that a field's schema allows, of each of its alternatives."""
    for one in schema.get("anyOf", [schema]):
        if one.get("type") not in ("integer", "number"):
            continue
        if "minimum" in one:
            yield one["minimum"]
        if "exclusiveMinimum" in one:
            yield math.nextafter(one["exclusiveMinimum"], math.inf)
        if "maximum" in one:
            yield one["maximum"]


def beyond(schema: dict[str, Any]) -> Iterator[float]:
    """Numbers just outside of the bounds of a field's schema, if it accepts nothing but numbers."""
    for one in schema.get("anyOf", [schema]):
        if one.get("type") not in ("integer", "number", "null"):
            return
        if "minimum" in one:
            yield math.nextafter(one["minimum"], -math.inf)
        if "exclusiveMinimum" in one:
            yield one["exclusiveMinimum"]
        if "maximum" in one:
            yield math.nextafter(one["maximum"], math.inf)


def test_every_section_of_the_core_is_documented_and_no_other() -> None:
    assert set(BaseRequest.model_fields) == set(SECTION_FIELDS) == set(READERS)
    assert set(TopicLoadRequest.model_fields) == set(TOPIC_FIELDS)


@pytest.mark.parametrize("section", [name for name, fields in SECTION_FIELDS.items() if fields])
def test_a_section_has_the_fields_and_within_its_bounds_the_core_reads_it(section: str) -> None:
    model = model_of(section)
    assert model is not None
    assert set(model.model_fields) == set(SECTION_FIELDS[section])
    for field, schema in model.model_json_schema()["properties"].items():
        for value in extremes(schema):
            READERS[section]({**SCENARIO[section], field: value})
        for value in beyond(schema):
            with pytest.raises(ImpossibleValue):
                READERS[section]({**SCENARIO[section], field: value})


def test_beyond_finds_both_sides_of_every_kind_of_bound() -> None:
    schema = {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "null"}]}
    assert list(beyond(schema)) == [0, math.nextafter(1, 2)]
    assert list(beyond({"type": "integer", "minimum": 1})) == [math.nextafter(1, 0)]


def test_a_topic_is_read_within_its_documented_bounds() -> None:
    """Two fields may contradict each other at an extreme, which is another failure than a value that is impossible."""
    for field, schema in TopicLoadRequest.model_json_schema()["properties"].items():
        for value in extremes(schema):
            try:
                READERS["topics"]([{**topic(), field: value}])
            except ConflictingFields:
                continue
        for value in beyond(schema):
            with pytest.raises(ImpossibleValue):
                READERS["topics"]([{**topic(), field: value}])


@pytest.mark.parametrize("value", [1, 2**31 - 1])
def test_a_multiplier_is_read_within_its_documented_bounds(value: int) -> None:
    assert list(extremes(BaseRequest.model_json_schema()["properties"]["partitions_multiplier"])) == [1, 2**31 - 1]
    assert READERS["partitions_multiplier"](value) == value
