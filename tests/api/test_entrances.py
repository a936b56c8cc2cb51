"""A text reads the same wherever it is pasted: a file of the command, a body, a part of a form, and on the page."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.cli.planning import Inputs
from app.errors.requests import MalformedText
from app.formats.snapshots import snapshot_json
from tests.conftest import ROOT
from tests.formats.test_harmless_lines import FRAMES, TEXTS
from tests.profiles import a_fifth

REPORTS = {path.name: path.read_bytes() for path in sorted((ROOT / "tests" / "reports").glob("*.txt"))}
ODD = {
    **{name: text.encode() for name, text in TEXTS.items()},
    **REPORTS,
    **{frame: FRAMES[frame](TEXTS["kafka-topics-describe.txt"]).encode() for frame in sorted(FRAMES)},
    "UTF-16": "\ufeff".join(["", TEXTS["kcat-list.txt"]]).encode("utf-16-le"),
    "another encoding": TEXTS["rpk-cluster-info.txt"].encode() + b"that\x92s all\n",
    "a cut row": TEXTS["kafka-topics-describe.txt"].encode()[:-30],
    "a leader that is no replica": b"Topic: t\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
    b"\tTopic: t\tPartition: 0\tLeader: 9\tReplicas: 1,2\tIsr: 1,2\n",
    "nothing": b"\n",
    "a snapshot": b'{"cluster": "c", "brokers": [{"id": 1}], "topics": []}',
}


def _state(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "cluster"}


def _answers(client: httpx.Client, content: bytes, file: Path) -> Iterator[tuple[str, object]]:
    """By entrance the state that is stored, or the line of the rejection; None for the page, which shows it."""

    def stored(answer: httpx.Response) -> object:
        if answer.status_code == 201:
            return _state(client.get(f"/v1/snapshots/{answer.json()['id']}").json()["document"])
        assert answer.status_code == 422, answer.text
        return answer.json().get("line")

    def on_page(cluster: str, **sent: Any) -> object:
        answer = client.post("/clusters", follow_redirects=False, **sent)
        if answer.status_code == 303:
            newest = client.get("/v1/snapshots", params={"cluster": cluster}).json()["items"][0]["id"]
            return _state(client.get(f"/v1/snapshots/{newest}").json()["document"])
        assert answer.status_code == 422
        return None

    plain = {"content": content, "headers": {"Content-Type": "text/plain"}}
    yield "body", stored(client.post("/v1/snapshots", params={"cluster": "body"}, **plain))  # type: ignore[arg-type] # two types
    parts = {"text": (file.name, content)}
    yield "part", stored(client.post("/v1/snapshots", data={"cluster": "part"}, files=parts))
    yield "file on the page", on_page("a", data={"cluster": "a"}, files={"files": (file.name, content)})
    try:
        pasted = {"cluster": "b", "text": "\r\n".join(content.decode().splitlines())}
    except UnicodeDecodeError:
        return
    yield "paste on the page", on_page("b", data=pasted, files={"files": ("", b"")})


@pytest.mark.parametrize("name", a_fifth(name for name in ODD if name != "a snapshot"))
def test_every_entrance_reads_alike(client: httpx.Client, tmp_path: Path, name: str) -> None:
    file = tmp_path / "paste.txt"
    file.write_bytes(ODD[name])
    expected: object
    try:
        expected = _state(json.loads(snapshot_json.write(Inputs(files=[file]).cluster())))
    except MalformedText as malformed:
        expected = malformed.line
        assert expected is not None
    for entrance, found in _answers(client, ODD[name], file):
        assert found == (None if isinstance(expected, int) and entrance.endswith("page") else expected), entrance


def test_a_snapshot_is_a_body_of_json_and_a_file_of_the_command(client: httpx.Client, tmp_path: Path) -> None:
    file = tmp_path / "paste.json"
    file.write_bytes(ODD["a snapshot"])
    assert [broker.id for broker in Inputs(files=[file]).cluster().brokers] == [1]
    answers = dict(_answers(client, ODD["a snapshot"], file))
    assert answers == {"body": 1, "part": 1, "file on the page": None, "paste on the page": None}
