"""Plans on a terminal."""

import re

import orjson
import pytest

from app.cli import summaries
from app.services.reassignment import EXPORTS
from tests.conftest import SAMPLES
from tests.test_cli import within_this_process

TEXTS = [
    str(SAMPLES / name)
    for name in ("kafka-broker-api-versions.txt", "kafka-topics-describe.txt", "kafka-log-dirs-describe.txt")
]


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, object], str]:
    """A plan, and its summary."""
    done = within_this_process("plan", *arguments)
    assert done.returncode == 0, done.stderr
    summaries.show(done.stdout.encode())
    return orjson.loads(done.stdout), capsys.readouterr().out


def test_a_reassignment_has_each_broker_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    plan, text = shown(capsys, "reassignment", *TEXTS, "--remove-broker", "105")
    assert text.startswith("Remove broker 105 from offline · ")
    assert str(plan["summary"]) in text
    rows = {cells[0]: cells for line in text.splitlines() if (cells := re.split(r" {2,}", line.strip())) if cells[0]}
    assert rows["105"][1:] == ["use1-az2", "23 → 0", "8 → 0", "12.4 MiB → 0 B"]
    assert rows["101"][1:3] == ["use1-az1", "32"], "a number that does not change is there once"
    movement = plan["movement"]
    assert isinstance(movement, list)
    assert rows.keys() >= {str(one["broker"]) for one in movement}


def test_the_formats_that_it_names_exist(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = shown(capsys, "reassignment", *TEXTS, "--remove-broker", "105")
    named = set(re.findall(r"--export (\w+)", text))
    assert named
    assert named <= EXPORTS.keys()


def test_a_reassignment_that_moves_nothing_has_no_batches(capsys: pytest.CaptureFixture[str]) -> None:
    plan, text = shown(capsys, "reassignment", *TEXTS, "--topic", "orders")
    assert plan["batches"] == []
    assert "--export" not in text


def test_a_long_table_counts_what_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = shown(capsys, "replicas", "--brokers", TEXTS[0], "--topic", "orders-v2:48:3", "--seed", "7")
    assert "… and 8 partitions more; --json has all" in text
    _, text = shown(capsys, "replicas", "--brokers", TEXTS[0], "--topic", "orders-v2:40:3", "--seed", "7")
    assert "--json" not in text
