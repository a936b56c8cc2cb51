"""Amounts as people write them, in bodies, options and pages."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from app.api.models.clusters import LogDirectoryRequest, PartitionRequest
from app.api.sweeps.capacity import MeasuredTopicRequest, ProfileRequest
from app.api.sweeps.fields import Axes
from app.cli import plan_options
from app.errors.requests import ConflictingFields
from app.services.amounts import bytes_of, number_of, seconds_of, share_of
from app.services.consumers.series import RateSeries
from app.services.fields import CapacityRequest
from app.services.keys import NullKeys
from app.services.reassignment.requests.parts import LimitRequest
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.restarts.requests import RestartRequest
from app.web.forms import short
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("3.4 TB", 3_400_000_000_000),
        ("3.4TB", 3_400_000_000_000),
        ("1 GiB", 2**30),
        ("0.5 KiB/s", 512),
        ("100 MB/s", 100_000_000),
        ("7 B", 7),
        ("800 Mbit/s", 100_000_000),
        ("10 Gbps", 1_250_000_000),
        ("1,234,567 B", 1_234_567),
        ("1 234 567.5 kB", 1_234_567_500),
        ("1_234 MiB", 1234 * 2**20),
        (3.41e12, 3_410_000_000_000),
        (12.0, 12),
    ],
)
def test_bytes(written: object, number: int) -> None:
    assert bytes_of(written) == number
    assert type(bytes_of(written)) is int


@pytest.mark.parametrize(
    "written",
    [
        "3.4",
        "TB",
        "1 KB",
        "1 Mb",
        "1 Gibps",
        "1,234.5 B",
        "85 %",
        "",
        "1e5 B",
        "-1 B",
        "٣ B",
        1.5,
        None,
        True,
    ],
)
def test_what_has_no_unit_or_another_is_left_to_the_model(written: object) -> None:
    assert bytes_of(written) is written


@pytest.mark.parametrize("read", [bytes_of, seconds_of, share_of, number_of])
@pytest.mark.parametrize("unit", ["", " GB", "h", "%"])
def test_a_comma_that_may_be_a_decimal_one_is_rejected_with_both_readings(
    read: Callable[[str], object], unit: str
) -> None:
    with pytest.raises(ValueError, match=f"Input may be 1234{unit} or 1.234{unit}"):
        read(f"1,234{unit}")
    with pytest.raises(ValidationError, match=r"may be 10000 GB or 10.000 GB"):
        TypeAdapter(CapacityRequest).validate_python({"disk_bytes": "10,000 GB"})


@pytest.mark.parametrize("written", ["1,5 TB", "3,41e12", "0,85", "12,75 %", "0,125 GB", "1234,5"])
def test_a_decimal_comma_is_rejected_with_the_point(written: str) -> None:
    for read in (bytes_of, share_of, number_of):
        with pytest.raises(ValueError, match=f"a point in place of the comma: {written.replace(',', '.')}"):
            read(written)


@given(st.integers(0, 10**15), st.sampled_from([" ", "_", ","]))
def test_separated_thousands_are_the_number(number: int, separator: str) -> None:
    written = f"{number:,}".replace(",", separator)
    assume(separator != "," or written.count(",") != 1)
    assert (number_of(written), bytes_of(f"{written} B")) == (number, number)


def test_headroom_is_a_share() -> None:
    assert (
        TypeAdapter(MeasuredTopicRequest).validate_python({"name": "t", "disk_headroom": "20 %"}).disk_headroom == 0.2
    )
    assert TypeAdapter(Axes).validate_python({"topics.*.disk_headroom": ["20 %", 0.5]}) == {
        "topics.*.disk_headroom": [0.2, 0.5]
    }


def test_a_list_with_units_or_one_number_for_all() -> None:
    null_keys = TypeAdapter(NullKeys).validate_python
    read = null_keys({"batch_bytes": "16 KiB", "record_bytes": ["1 kB", 2e3], "queue_sizes": 3})
    assert (read.batch_bytes, read.record_bytes, read.queue_sizes) == (16_384, [1000, 2000], 3)
    assert null_keys({"record_bytes": "1 kB"}).record_bytes == 1000
    for wrong in ({"record_bytes": "3 GB"}, {"queue_sizes": "1 kB"}, {"queue_sizes": 1.5}, {"batch_bytes": 0.5}):
        with pytest.raises(ValidationError):
            null_keys(wrong)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("12 h", 43_200),
        ("7d", 604_800),
        ("90 min", 5400),
        ("5m", 300),
        ("1.5 s", 1.5),
        ("500 ms", 0.5),
        ("1w", 604_800),
    ],
)
def test_durations(written: str, seconds: float) -> None:
    assert seconds_of(written) == number_of(written) == seconds
    assert TypeAdapter(ReassignmentRequest).validate_python({"deadline_s": "12 h"}).deadline_s == 43_200
    series = TypeAdapter(RateSeries).validate_python
    assert (series({"step_s": "5 min"}).step_s, type(series({"step_s": "5 min"}).step_s)) == (300, int)
    for wrong in ("1.5 s", "0 s", "32 d", "5 months", "P1D", "1e3 s", "-5 s", "5 MB"):
        with pytest.raises(ValidationError):
            series({"step_s": wrong})


_AMOUNTS = re.compile(r"(?:bytes|bytes_per_s|_share|_s|_seconds|_ms|growth_per_month|_headroom)$")


def _accepts_a_text(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> bool:
    """Whether a value, or one in its lists and objects, may be a text."""
    if "$ref" in schema:
        return _accepts_a_text(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), schema.get("items")]
    inner += [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    return schema.get("type") == "string" or any(
        _accepts_a_text(one, schemas) for one in inner if isinstance(one, dict)
    )


def test_every_amount_of_a_request_may_have_its_unit() -> None:
    """Bytes, rates, shares, durations and growth, under whichever name: the schema says so to each client."""
    schemas = json.loads((ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8"))["components"]["schemas"]
    requests = {name: schema for name, schema in schemas.items() if name.endswith(("Request", "Fields", "Series"))}
    amounts = [
        (name, field, schema)
        for name, request in requests.items()
        for field, schema in request.get("properties", {}).items()
        if _AMOUNTS.search(field)
    ]
    assert len(amounts) > 50
    assert [(name, field) for name, field, schema in amounts if not _accepts_a_text(schema, schemas)] == []


@pytest.mark.parametrize("written", ["10k", "1_000", "much", "1e400", "NaN"])
def test_a_text_that_is_no_amount_is_rejected_with_an_example(written: str) -> None:
    for model, field, example in (
        (PartitionRequest, {"partition": 0, "replicas": [1], "size_bytes": written}, "3.4 TB"),
        (RestartRequest, {"restart_seconds": written}, "12 h"),
    ):
        with pytest.raises(ValidationError, match=f'such as "{example}"'):
            TypeAdapter(model).validate_python(field)


def test_axes_of_amounts_take_units() -> None:
    """Values of other axes are names, and stay as they are."""
    written = {"topics.*.retention_s": ["12 h", 60], "targets.disk": ["70 %"], "broker_profile.disk_bytes": ["1 TB"]}
    numbers = {"topics.*.retention_s": [43_200, 60], "targets.disk": [0.7], "broker_profile.disk_bytes": [10**12]}
    others = {"topology.racks": [["7d", "1 B"]], "x": ["5m"]}
    assert TypeAdapter(Axes).validate_python(written | others) == numbers | others


def test_shares() -> None:
    assert [share_of(each) for each in ("85 %", "85%", "0.5 %", 0.85, "0.85", "3 TB")] == [
        *(0.85, 0.85, 0.005, 0.85),
        *("0.85", "3 TB"),
    ]


@pytest.mark.parametrize(
    ("written", "hint"),
    [(85, '0.85 or "85 %"'), (85.5, '0.855 or "85.5 %"'), ("85", '0.85 or "85 %"'), ("0.85", '0.85 or "85 %"')],
)
def test_a_share_that_was_meant_in_percent_is_rejected_with_both_readings(written: object, hint: str) -> None:
    with pytest.raises(ValidationError) as invalid:
        TypeAdapter(ReassignmentRequest).validate_python({"limits": {"disk": written}})
    assert any(hint in error["msg"] for error in invalid.value.errors())


@pytest.mark.parametrize("written", [101, 4e12, -1, "much", True, [1]])
def test_what_is_no_share_at_all_has_no_hint(written: object) -> None:
    with pytest.raises(ValidationError) as invalid:
        TypeAdapter(ReassignmentRequest).validate_python({"batches": {"max_disk_share": written}})
    assert all("percent" not in error["msg"] for error in invalid.value.errors())


def test_a_limit_of_an_option_in_percent_without_its_sign_is_rejected() -> None:
    with pytest.raises(ConflictingFields, match=r"disk=85 is 85 bytes; a share is 0\.85 or 85%"):
        plan_options.limits(["disk=85"])
    assert plan_options.limits(["disk=85%,cpu=8,replicas=85"]) == {
        "disk": 0.85,
        "cpu": {"absolute": 8},
        "replicas": {"absolute": 85},
    }


def test_numbers_of_options() -> None:
    numbers = [number_of(each) for each in ("3.4TB", "85%", "0.85", "12", "3.41e12")]
    assert numbers == [3_400_000_000_000, 0.85, 0.85, 12, 3_410_000_000_000]
    assert [type(each) for each in numbers] == [int, float, float, int, int]
    with pytest.raises(ValueError, match="much"):
        number_of("much")


def test_a_request_with_units_is_the_one_with_numbers() -> None:
    adapter = TypeAdapter(ReassignmentRequest)
    written = {
        "limits": {"disk": "85 %", "nic_in": {"absolute": "100 MB/s"}, "cpu": {"share": "50%"}},
        "capacity": {"*": {"disk_bytes": "3.4 TB", "nic_in_bytes_per_s": 1.25e8}},
        "batches": {"throttle_bytes_per_s": "50 MB/s", "max_disk_share": "90 %"},
        "max_moved_bytes": "1 TiB",
    }
    numbers = {
        "limits": {"disk": 0.85, "nic_in": {"absolute": 100_000_000}, "cpu": {"share": 0.5}},
        "capacity": {"*": {"disk_bytes": 3_400_000_000_000, "nic_in_bytes_per_s": 125_000_000}},
        "batches": {"throttle_bytes_per_s": 50_000_000, "max_disk_share": 0.9},
        "max_moved_bytes": 2**40,
    }
    assert adapter.validate_python(written) == adapter.validate_python(numbers)
    assert CapacityRequest.model_validate({"disk_bytes": "1 TB"}).disk_bytes == 10**12


@pytest.mark.parametrize("limit", ["101 %", "85", "3 TB", {"share": "0 %"}, {"absolute": "5 %"}])
def test_bounds_and_units_of_a_field_hold(limit: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(LimitRequest).validate_python(limit)


def test_options_and_pages_take_the_same() -> None:
    assert plan_options.limits(["disk=85%,nic_in=100MB/s,cpu=0.5,replicas=400"]) == {
        "disk": 0.85,
        "nic_in": {"absolute": 100_000_000},
        "cpu": 0.5,
        "replicas": {"absolute": 400},
    }
    assert plan_options.capacities(["disk=3.4TB", "7:cpu=8"]) == {
        "*": {"disk_bytes": 3_400_000_000_000},
        "7": {"vcpu": 8},
    }
    assert plan_options.directory_bytes(["*:/d=4TB"]) == {"*": {"/d": 4 * 10**12}}
    body = plan_options.fields_of(
        dict.fromkeys(plan_options.OF_KIND["reassignment"]) | {"throttle": "50MB/s", "max_moved_bytes": "7"},
        plan_options.OF_KIND["reassignment"],
    )
    assert body == {"batches": {"throttle_bytes_per_s": 50_000_000}, "max_moved_bytes": 7}
    with pytest.raises(ConflictingFields, match="--throttle"):
        plan_options.fields_of(
            dict.fromkeys(plan_options.OF_KIND["reassignment"]) | {"throttle": "fast"},
            plan_options.OF_KIND["reassignment"],
        )
    problems: dict[str, str] = {}
    typed = {"disk": "85 %", "cpu": "50", "throttle": "50 MB/s"}
    body = short.request("reassignment", typed, problems)
    assert not problems
    assert body["limits"] == {"disk": 0.85, "cpu": 0.5}
    assert body["batches"] == {"throttle_bytes_per_s": 50_000_000}


@pytest.mark.parametrize(
    ("model", "body", "name", "expected"),
    [
        (LogDirectoryRequest, {"path": "/d", "total_bytes": "3.4 TB"}, "total_bytes", 3_400_000_000_000),
        (PartitionRequest, {"partition": 0, "replicas": [1], "size_bytes": 3.41e12}, "size_bytes", 3_410_000_000_000),
        (ProfileRequest, {"disk_bytes": "2 TB", "price_per_month": 1}, "disk_bytes", 2e12),
        (MeasuredTopicRequest, {"name": "t", "lagging_share": "5 %"}, "lagging_share", 0.05),
        (RestartRequest, {"catch_up_bytes_per_s": "50 MB/s"}, "catch_up_bytes_per_s", 5e7),
    ],
)
def test_units_in_every_body(model: type, body: dict[str, object], name: str, expected: float) -> None:
    """Snapshots, sweeps and restarts take them as reassignments do."""
    assert getattr(TypeAdapter(model).validate_python(body), name) == expected


def test_units_of_options() -> None:
    options = {"max_disk_share": "85%", "catch_up_bytes_per_s": "50MB/s"}
    of_reassignments = {"max_disk_share": plan_options.OF_KIND["reassignment"]["max_disk_share"]}
    assert plan_options.fields_of(options, of_reassignments) == {"batches": {"max_disk_share": 0.85}}
    of_restarts = {"catch_up_bytes_per_s": plan_options.OF_KIND["restart"]["catch_up_bytes_per_s"]}
    assert plan_options.fields_of(options, of_restarts) == {"catch_up_bytes_per_s": 50_000_000}
