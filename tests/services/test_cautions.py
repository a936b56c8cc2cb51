"""Warnings: each text names the values that its callers give, and reads as they count."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

from app.services.cautions import CAUTIONS, TEXTS, caution

ROOT = Path(__file__).parents[2]
_FIELDS = {"brokers", "members", "topics", "kafka_version"}


def named(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def calls() -> list[tuple[str, set[str] | None]]:
    """Each name in a call of `caution`, with the values that are given; None if some are in a mapping."""
    found = []
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "caution":
                given = {keyword.arg for keyword in node.keywords if keyword.arg}
                is_whole = len(given) == len(node.keywords)
                names = [each.value for each in ast.walk(node.args[0]) if isinstance(each, ast.Constant)]
                found += [(str(name), given if is_whole else None) for name in names]
    return found


def test_every_text_has_the_code_of_a_warning() -> None:
    assert {name.partition(".")[0] for name in TEXTS} <= CAUTIONS.keys()


def test_every_text_is_used() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))
    assert set(TEXTS) <= set(re.findall(r'"([a-z_.]+)"', sources))


@pytest.mark.parametrize(("name", "given"), calls())
def test_every_call_gives_the_values_of_its_text(name: str, given: set[str] | None) -> None:
    """A missing one would fail when the warning is made; a further one that is no field would be lost."""
    assert given is None or given - _FIELDS <= named(TEXTS[name]) <= given


def test_values_are_counted_chosen_by_number_and_named() -> None:
    one, many = (
        caution("topics_without_broker_set", unbound=["a"]),
        caution("topics_without_broker_set", unbound=["a", "b", "c"]),
    )
    assert one.detail == "1 topic is bound to no broker set, and is placed on the brokers outside every set: a"
    assert (
        many.detail == "3 topics are bound to no broker set, and are placed on the brokers outside every set: a, b, c"
    )


def test_a_field_is_of_the_warning_and_may_be_in_its_text() -> None:
    found = caution("racks_ignored.mode", listed=3, brokers=(1, 2))
    assert (found.code, found.brokers) == ("racks_ignored", (1, 2))
    assert found.detail == "racks do not count: 2 of 3 brokers have none, and the mode is safe"


def test_brokers_are_ascending() -> None:
    """A request lists brokers in any order."""
    assert caution("fenced_brokers_left_out", brokers=(12, 3)).brokers == (3, 12)
