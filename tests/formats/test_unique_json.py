"""A member that comes twice in an object is rejected, however the text is parsed; any other JSON is read as before."""

import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.models.clusters import SnapshotRequest
from app.errors.requests import MalformedText
from app.formats.kafka_files import reassignment
from app.formats.snapshots import snapshot_json
from app.formats.snapshots.assembly import assemble
from app.formats.snapshots.pasted import Upload
from app.formats.syntax.documents import Document
from app.formats.syntax.unique_json import RepeatedMember, loads, members_of, require_unique
from tests.formats.strategies import sample
from tests.jbod import jbod

NAMES = st.text(st.sampled_from('ab":\\\u00e9 '), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.sampled_from('a":\\{},'), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
WRITERS: list[Callable[[Any], str]] = [
    lambda value: orjson.dumps(value).decode(),
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(value, separators=(" , ", " : ")),
]


@given(VALUES, st.sampled_from(WRITERS))
def test_json_without_repeated_members_is_read(value: Any, write: Callable[[Any], str]) -> None:
    text = write(value)
    assert loads(text) == value
    require_unique(text, members_of(orjson.loads(text)))
    assert Document.parse(text, "a value").root == value


@given(VALUES, NAMES, VALUES, st.sampled_from(["%s", "[%s]", '{"x":%s}', '{"x":[1,{"y":%s}]}']))
def test_a_repeated_member_is_named(value: Any, name: str, other: Any, around: str) -> None:
    pair = json.dumps(name)
    text = around % f"{{{pair}:{json.dumps(value)},{pair}:{json.dumps(other)}}}"
    with pytest.raises(RepeatedMember) as repeated:
        loads(text)
    assert json.dumps(name) in repeated.value.msg
    with pytest.raises(MalformedText, match="comes twice"):
        Document.parse(text, "a value")


@pytest.mark.parametrize("texts", [["kafka-topics-describe.txt"], ["kafka-consumer-groups-members-verbose.txt"], []])
def test_the_members_of_a_snapshot_are_counted(texts: list[str]) -> None:
    """As the parsed document has them: a snapshot is parsed into models, without a document in between."""
    cluster = assemble("c", [Upload(sample(name)) for name in texts]).cluster if texts else jbod()
    document = orjson.loads(snapshot_json.write(cluster))
    request = SnapshotRequest.model_validate_json(orjson.dumps(document))
    assert request.members == members_of(document)


def test_a_file_for_kafka_with_a_repeated_member() -> None:
    text = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1],"replicas":[2]}]}'
    with pytest.raises(MalformedText, match='the member "replicas" comes twice'):
        reassignment.read(text)
