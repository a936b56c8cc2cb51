"""The options of `rackplan plan …`, which `options.json` lists as fields of requests."""

import inspect
import json
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from app.cli import app
from app.cli.plan_options import OF_KIND, capacities, directory_bytes, drained, fields_of
from app.cli.planning import Export, Inputs, body_of, make
from app.cli.registration import FUNCTIONS, TABLE
from app.errors.requests import ConflictingFields
from tests.conftest import ROOT
from tests.jbod import log_dirs_text
from tests.reference import walk

OPTIONS = dict.fromkeys(OF_KIND["reassignment"])


def fields(**options: Any) -> dict[str, Any]:
    found: dict[str, Any] = fields_of(OPTIONS | options, OF_KIND["reassignment"])
    return found


DOCUMENT = json.loads((ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8"))
STATED = [(kind, option, path) for kind, fields_ in OF_KIND.items() for option, (path, _) in fields_.items()]


def schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema without references, or the alternatives of which it has to be one."""
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    yield schema
    for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from schemas(one)


@pytest.mark.parametrize(("kind", "option", "path"), STATED)
def test_an_option_states_a_field_that_the_request_has(kind: str, option: str, path: str) -> None:
    operation = "/v1/keys/partitions" if kind == "keys" else f"/v1/plans/{kind}"
    found = [DOCUMENT["paths"][operation]["post"]["requestBody"]["content"]["application/json"]["schema"]]
    for name in path.split("."):
        objects = [one.get("properties", {}) for schema in found for one in schemas(schema)]
        found = [properties[name] for properties in objects if name in properties]
        assert found, f"--{option} states {path}, and requests have no {name}"


def test_each_row_of_the_table_describes_an_option() -> None:
    commands = {" ".join(words): each for words, each in walk(typer.main.get_command(app), [])}
    options = {path: {each.name for each in command.params} for path, command in commands.items()}
    for path, row in TABLE["commands"].items():
        assert row["options"].keys() == options[path], path
    assert TABLE["shared"].keys() <= set().union(*options.values())


@pytest.mark.parametrize(("path", "row"), TABLE["commands"].items())
def test_the_function_of_a_command_takes_its_options(path: str, row: dict[str, Any]) -> None:
    """It is called with all of them by name; one whose result is shown has a client in place of the output's."""
    options = [*row["options"], *(["operation"] if "operation" in row else [])]
    shown = {"output", "as_json", "url"} if "columns" in row else set()
    given = ["a client"] if shown else []
    inspect.signature(FUNCTIONS[path]).bind(*given, **{name: None for name in options if name not in shown})


def test_options_are_fields_of_a_request() -> None:
    assert fields(
        drain_log_dir=["101:/data/d1,101:/data/d2", "104:/a:b"],
        balance_log_dirs="0.1",
        log_dir_bytes=["*:/data/d1=10", "101:/data/d1=20"],
        capacity=["disk=100,cpu=8.5", "101:nic_in=5"],
        max_disk_share=0.8,
        topic_replicas="tight",
    ) == {
        "log_dirs": {
            "drain": {"101": ["/data/d1", "/data/d2"], "104": ["/a:b"]},
            "balance": {"tolerance": 0.1},
            "total_bytes": {"*": {"/data/d1": 10}, "101": {"/data/d1": 20}},
        },
        "capacity": {"*": {"disk_bytes": 100, "vcpu": 8.5}, "101": {"nic_in_bytes_per_s": 5}},
        "batches": {"max_disk_share": 0.8},
        "balance": {"per_topic": {"replicas": "tight"}},
    }


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (drained, "101"),
        (drained, "101:"),
        (drained, "*:/data/d1"),
        (drained, "x:/data/d1"),
        (directory_bytes, "101:/data/d1"),
        (directory_bytes, "101:/data/d1=-1"),
        (directory_bytes, "/data/d1=5"),
        (directory_bytes, "1:/a=5,1:/a=6"),
        (capacities, "disk"),
        (capacities, "disk=much"),
        (capacities, "memory=5"),
        (capacities, "x:disk=5"),
        (capacities, "disk=5,disk=6"),
    ],
)
def test_what_has_another_form_is_named(read: Any, text: str) -> None:
    with pytest.raises(
        ConflictingFields, match=text.split(",", maxsplit=1)[0].split("=", maxsplit=1)[0].replace("*", r"\*")
    ):
        read([text])


def test_a_drain_without_a_service(tmp_path: Any) -> None:
    """As the API plans it: the directory is empty afterwards, and the files name the new directories."""
    (tmp_path / "log_dirs.txt").write_text(log_dirs_text())
    samples = ROOT / "tests" / "samples"
    parts = {
        "brokers": samples / "kafka-broker-api-versions.txt",
        "topics": samples / "kafka-topics-describe.txt",
        "log_dirs": tmp_path / "log_dirs.txt",
    }
    body = body_of(fields(drain_log_dir=["101:/data/d1"]), None)
    made: Any = make("reassignment", body, Inputs((), parts, None, None), Export(None, None, False))
    assert json.loads(made)["log_dirs"]["moved_replicas"] == 22
