"""`docs/copysets.md`: the output of its commands, and its picture."""

import json
import re

import httpx
import pytest

from app.core.model import Broker
from app.core.replicas.copyset_rounds import front_of
from tests.conftest import ROOT
from tests.documents import Document, replay

DOC = Document(ROOT / "docs" / "copysets.md")


@pytest.mark.slow
def test_every_command_prints_what_is_shown(client: httpx.Client) -> None:
    replay(DOC, str(client.base_url).rstrip("/"))


def test_the_picture_shows_the_front_of_sixty_brokers() -> None:
    front = front_of([Broker(broker, f"rack-{broker % 3}") for broker in range(60)], 3, min_isr=2)
    (picture,) = (text for kind, text in DOC.blocks if kind == "mermaid")
    odds, loads = (json.loads(each) for each in re.findall(r"(?:million\"|line) (\[.*\])", picture))
    assert odds == [round(1e6 * (each.loss_probability[3] or 0)) for each in front]
    assert loads == [each.largest_load_after_loss for each in front]
    assert [front[0].scatter_width, front[1].scatter_width, front[-1].scatter_width] == [2, 4, 24]
