"""A cluster as columns."""

from dataclasses import fields, replace
from io import BytesIO
from random import Random
from zipfile import BadZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Cluster, Topic
from app.formats.snapshots import snapshot_columns, snapshot_json
from tests.formats.test_snapshot_json import clusters
from tests.profiles import costly


@costly()
@given(clusters(), st.randoms())
def test_columns_are_read_as_the_document_is(cluster: Cluster, random: Random) -> None:
    """In every array's values, shape and type, whatever the order of topics and partitions that are written."""
    shuffled = []
    for topic in random.sample(cluster.topics, len(cluster.topics)):
        order = random.sample(range(len(topic.partition_ids)), len(topic.partition_ids))
        arrays = {name: value[order] for name, value in values(topic).items() if isinstance(value, np.ndarray)}
        rates = np.array([random.choice([np.nan, 0.0, 1e9 / 7]) for _ in order])
        rated = replace(topic, ingress_bytes_per_s=random.choice([None, rates]))
        shuffled.append(replace(rated, **arrays))  # type: ignore[arg-type] # by name
    written = replace(cluster, topics=tuple(shuffled))
    found = snapshot_columns.read(snapshot_columns.write(written))
    expected = snapshot_json.read(snapshot_json.write(written))
    assert snapshot_json.write(found) == snapshot_json.write(expected)
    assert len(found.topics) == len(expected.topics)
    for topic, other in zip(found.topics, expected.topics, strict=True):
        for name, value in values(other).items():
            np.testing.assert_array_equal(getattr(topic, name), value, err_msg=name)
            if isinstance(value, np.ndarray):
                assert (getattr(topic, name).dtype, getattr(topic, name).shape) == (value.dtype, value.shape), name
                assert getattr(topic, name).flags.c_contiguous
                assert getattr(topic, name).flags.writeable  # compiled loops are compiled for such arrays


@costly()
@given(clusters())
def test_columns_of_earlier_releases_have_no_eligible_replicas(cluster: Cluster) -> None:
    """A column that a release does not write is left out of its archive; all else is read as it was."""
    topics = tuple([replace(topic, elr=None) for topic in cluster.topics])
    with np.load(BytesIO(snapshot_columns.write(replace(cluster, topics=topics)))) as archive:
        earlier = {name: archive[name] for name in archive.files if name != "elr"}
    stored = BytesIO()
    np.savez(stored, **earlier)
    found = snapshot_columns.read(stored.getvalue())
    assert snapshot_json.write(found) == snapshot_json.write(replace(cluster, topics=topics))
    assert all(topic.elr is None for topic in found.topics)


def test_nothing_is_unpickled() -> None:
    """A database in which somebody else writes gets no code to run."""
    columns = np.array([print], dtype=object)
    with pytest.raises((ValueError, BadZipFile)):
        snapshot_columns.read(columns.dumps())


def values(topic: Topic) -> dict[str, object]:
    """The fields of a topic by name."""
    return {field.name: getattr(topic, field.name) for field in fields(topic)}
