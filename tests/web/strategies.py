"""Clusters and assignments as odd as the model allows: any text for a rack, unlisted brokers, padding, repeats."""

import numpy as np
from hypothesis import strategies as st

from app.core.model import INT32_MAX, Assignment, Broker, padded
from app.web.pictures.members import Member, MembersPicture
from app.web.plans.groups import PARTS

texts = st.text(st.characters(exclude_categories=()), max_size=40)
broker_ids = st.integers(0, 30) | st.integers(0, INT32_MAX)
rack_names = st.none() | st.sampled_from(["a", "b", "c", "<script>alert(1)</script>", "]]>", "\x00"]) | texts


@st.composite
def clusters(draw: st.DrawFn) -> list[Broker]:
    """Some brokers, none included, in any order."""
    ids = draw(st.lists(broker_ids, unique=True, max_size=40))
    return [Broker(broker, draw(rack_names), fenced=draw(st.booleans())) for broker in ids]


@st.composite
def assignments(draw: st.DrawFn, brokers: list[Broker]) -> dict[str, Assignment]:
    """Assignments of some topics over these brokers and, now and then, over unlisted brokers."""
    ids = st.sampled_from([broker.id for broker in brokers]) | broker_ids if brokers else broker_ids
    found = {}
    for topic in draw(st.lists(texts, unique=True, max_size=4)):
        rows = draw(st.lists(st.lists(ids, max_size=4), max_size=30))
        first = draw(st.integers(0, 1000))
        found[topic] = Assignment(np.arange(first, first + len(rows), dtype=np.int32), padded(rows))
    return found


loads = st.integers(0, 3) | st.integers(0, 100_000)
readers = st.builds(Member, name=texts, place=rack_names, counts=st.tuples(loads, loads, loads))
readings = st.builds(
    MembersPicture,
    title=texts,
    facts=st.lists(texts, max_size=3),
    by=st.just("rack"),
    members=st.lists(readers, max_size=60),
    parts=st.just(PARTS),
    noun=st.just("member"),
    unit=st.just("partition"),
    places=st.lists(texts, max_size=20),
)
"""Groups of any members, in racks of any name, with any counts."""
