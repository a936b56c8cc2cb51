"""`rackplan decode`, as a process: files, standard input, exit codes and help."""

import json
import subprocess
from pathlib import Path

import pytest

from app.formats.syntax.wire_formats import WireFormat
from tests import forked
from tests.formats.test_consumer_protocol import SUBSCRIPTION

pytestmark = pytest.mark.slow


def decode(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The command, run to its end."""
    return forked.run("decode", *arguments, given=given)


def test_a_file_and_standard_input_are_the_same(tmp_path: Path) -> None:
    file = tmp_path / "subscription.bin"
    file.write_bytes(SUBSCRIPTION)
    of_file = decode("subscription", str(file))
    assert of_file.returncode == 0, of_file.stderr
    assert json.loads(of_file.stdout)["rack_id"] == "a"
    for given in (SUBSCRIPTION, SUBSCRIPTION.hex().encode()):
        assert decode("subscription", given=given).stdout == of_file.stdout
        assert decode("subscription", "-", given=given).stdout == of_file.stdout


def test_an_output_file(tmp_path: Path) -> None:
    done = decode("subscription", "--output", str(tmp_path / "out.json"), given=SUBSCRIPTION)
    assert (done.returncode, done.stdout) == (0, b"")
    assert json.loads((tmp_path / "out.json").read_bytes())["topics"] == ["t"]


def test_malformed_input_names_the_byte_and_what_kafka_throws() -> None:
    done = decode("subscription", given=SUBSCRIPTION[:-1])
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"rackplan: ")
    assert b"at byte 21" in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert b"\n  Kafka: RuntimeException: Error reading byte array of 1 byte(s)" in done.stderr


def test_another_format_and_a_missing_file_are_usage_errors() -> None:
    assert decode("protobuf", given=b"").returncode == 2
    assert decode("subscription", "/does/not/exist").returncode == 2


def test_help_lists_every_format() -> None:
    printed = decode("--help").stdout.decode()
    for wire_format in WireFormat:
        assert f"{wire_format.value}: {wire_format.summary}" in printed
