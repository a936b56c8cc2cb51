"""A request is validated as the body of the API, and read without bounds where it was stored."""

from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from app.core.model import Broker
from app.services.bodies import ABSENT, AnswerRecord, reader_of_stored, stated
from app.services.groups import requests as group_requests
from app.services.reassignment import PLANNER, READER, BatchesRequest, PinRequest, ReassignmentRequest, Tolerance


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"remove_brokers": ["101"]}, ("remove_brokers", 0)),
        ({"remove_broker": [101]}, ("remove_broker",)),
        ({"batches": {"max_partitions": 0}}, ("batches", "max_partitions")),
        ({"batches": {"max_partition": 1}}, ("batches", "max_partition")),
        ({"balance": {"replicas": {"tolerance": 0.1, "below": 0.2}}}, ("balance", "replicas", "share", "below")),
        ({"requires_snapshot": False}, ("requires_snapshot",)),
    ],
)
def test_a_body_has_known_fields_of_their_type_within_bounds(
    body: dict[str, Any], place: tuple[str | int, ...]
) -> None:
    with pytest.raises(ValidationError) as invalid:
        READER.validate_python(body)
    assert [error["loc"] for error in invalid.value.errors()] == [place]


def test_parts_of_a_body_are_records_of_the_services() -> None:
    body = {
        "add_brokers": [{"id": 7, "rack": "a"}],
        "replace_brokers": {"1": 2},
        "balance": {"leaders": {"tolerance": 0}},
    }
    request = READER.validate_python(body)
    assert request.add_brokers == [Broker(7, "a")]
    assert request.replace_brokers == {1: 2}
    assert request.balance.leaders == Tolerance(0.0)
    assert stated(request) == body | {"add_brokers": [{"id": 7, "rack": "a"}], "replace_brokers": {1: 2}}


def test_a_stored_request_may_be_beyond_the_bounds_of_today() -> None:
    request = ReassignmentRequest(pins=[PinRequest("a b", 0, [1])], batches=BatchesRequest(max_partitions=0))
    assert PLANNER.restored({**PLANNER.stored(request), "of_another_release": 1}) == request


def test_a_stored_group_has_assignors_and_its_body_one_or_several() -> None:
    stored = reader_of_stored(group_requests.READER)({"assignors": ["range", "sticky"]})
    body = group_requests.READER.validate_python({"assignor": ["range", "sticky", "range"]})
    assert stored == body == group_requests.GroupRequest(assignors=["range", "sticky"])
    with pytest.raises(ValidationError):
        group_requests.READER.validate_python({"assignors": ["range"]})


class _Part(AnswerRecord, schema="PartDocument"):
    from_: int
    note: str | None = ABSENT


@dataclass(frozen=True)
class _Source:
    note: Any


class _Whole(_Part, kw_only=True):
    parts: list[_Part]


@given(st.integers(0, 2**31), st.none() | st.text(max_size=3) | st.just(ABSENT))
def test_an_answer_has_the_fields_of_its_schema_and_lacks_those_that_are_absent(number: int, note: Any) -> None:
    """Null is a value; only `ABSENT` is left out."""
    part = {"from": number} | ({} if note is ABSENT else {"note": note})
    answer = _Whole(number, note, parts=[_Part(number, note)])
    assert orjson.loads(orjson.dumps(answer)) == part | {"parts": [part]}
    assert _Part(number).note is ABSENT
    assert _Whole.of(_Source("of the source"), from_=1, parts=[]).note == "of the source"


def test_the_schema_of_an_answer_is_that_of_its_record() -> None:
    schema = TypeAdapter(_Whole).json_schema(mode="serialization")
    part = schema["$defs"]["_Part"]
    assert (part["title"], list(part["properties"]), part["required"]) == ("PartDocument", ["from", "note"], ["from"])
    assert schema["required"] == ["from", "parts"]
    assert "default" not in part["properties"]["note"]
