"""Lines that are of no tool, and prefixes of all lines, change nothing that is read."""

import html
import json
import quopri
from collections.abc import Callable
from pprint import pformat
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.errors.requests import MalformedText
from app.formats.kafka_files import reassignment, reassignment_output
from app.formats.snapshots import snapshot_json
from app.formats.snapshots.assembly import Assembled, assemble
from app.formats.snapshots.pasted import Upload
from app.formats.syntax.characters import plain
from app.services.snapshots import cautions
from tests.conftest import ROOT
from tests.formats.strategies import rejected, sample
from tests.formats.test_proposals import CRUISE_CONTROL_TEXT, TOPICMAPPR
from tests.formats.test_sources import STATE
from tests.profiles import a_fifth, costly

REPORTS = ROOT / "tests" / "reports"
TEXTS = {
    name: sample(name)
    for name in (
        *("kafka-broker-api-versions.txt", "kafka-cluster-list-endpoints.txt", "kafka-topics-describe.txt"),
        *("kafka-log-dirs-describe.txt", "kafka-consumer-groups-describe.txt", "kafka-consumer-groups-state.txt"),
        *("kafka-consumer-groups-members-verbose.txt", "kafka-share-groups-describe-verbose.txt"),
        *("kafka-streams-groups-members-verbose.txt", "describe-groups.json", "kcat-list.txt", "kcat-list.json"),
        *("rpk-cluster-info.txt", "kafka-metadata-quorum-status.txt", "cruise-control-load.json"),
        *("strimzi-node-pools.yaml", "msk-list-nodes.json", "akhq-topics.json"),
        *("kafkajs-metadata.json", "confluent-rest-replicas.json", "msk-topic-partitions.json"),
        *("msk-topic-partitions.yaml", "kafka-ui-topics.json", "rpk-cluster-partitions.json"),
    )
}
LINES = (
    *(
        "Created topic orders.",
        "Error: Consumer group 'x' does not exist.",
        "So this is how it is spread.",
        "done",
        "2",
    ),
    *("u:~ u$ docker run --rm -it x", "bash-5.1$ ls", "kafka-setup-1 exited with code 0", "Topic: orders", "(3 rows)"),
    *("kubectl exec [POD] [COMMAND] is DEPRECATED and will be removed", "There are 3 brokers in it - why?", "100%"),
    *("   [2024-12-29 17:08:44,319] WARN [AdminClient] x", "1 topic was created", "a b c d e f g h i", "> quoted"),
    *("What about 2 of 3 replicas, or 4 - 5?", "GROUP is billing", "brokers: 3", "===", "* note", "Connecting to zk"),
    *('{"cats": 3}', "[1, 2]", "WATCHER::", "Note: this is all.", "\x1b[?2004h", "Topic orders has 24 partitions"),
)
DIGITS = "0123456789"
PREFIXES = (
    *("kafka-1  | ", "[pod/kafka-0/kafka] ", "kafka-1: ", "kafka-1:", "### ", "###", "> ", "# ", "    ", "\t", "12: "),
    *("12:00:00 ", "[12:00:00.123] ", "[2026-01-31 12:00:00] ", "01/31/2026 12:00:00 PM ", "1769860800.123 "),
    *("2026-01-31T12:00:00.123456Z 01O ", "build\tRun tool\t2026-01-31T12:00:00.1234567Z ", "- ", "• ", "│ "),
    *("null_resource.x (local-exec): ", "  12   │ ", "    12\t"),
    *("2026-01-31T12:00:00.123456789Z ", "Jan 31 12:00:00 host kafka[77]: ", "kafka-0 kafka ", "b.example.com | "),
    *("kafka[0abc1]: ", "kafka-1.example.com ", "kafka-1\t", "2026-01-31T12:00:00.000000+00:00 app[run.1]: "),
    *("kafka-1  | 2026-01-31T12:00:00Z ", "2026-01-31T12:00:00.1Z stdout F ", "out.txt:"),
)


def read(text: str) -> Assembled:
    return assemble("c", [Upload(text)])


def stored(text: str) -> bytes:
    return snapshot_json.write(read(text).cluster)


def report(name: str) -> str:
    return (REPORTS / name).read_text(encoding="utf-8")


@costly(100)
@given(st.sampled_from(sorted(TEXTS)), st.lists(st.sampled_from(LINES), min_size=1, max_size=4), st.data())
def test_harmless_lines_before_and_after_a_text_change_nothing(
    name: str, lines: list[str], data: st.DataObject
) -> None:
    before = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join([*lines[:before], TEXTS[name].rstrip("\n"), *lines[before:], ""]).replace("\n", end)
    assert stored(text) == stored(TEXTS[name])
    assert len(read(text).skipped) >= sum(line != "\x1b[?2004h" for line in lines)


@costly(60)
@given(st.sampled_from(LINES), st.data())
def test_a_harmless_line_within_rows_that_stand_alone_changes_nothing(line: str, data: st.DataObject) -> None:
    """Rows of a proposal, and of the state of Cruise Control, need no line before them."""
    lines = data.draw(st.sampled_from([STATE, TOPICMAPPR])).split("\n")
    at = data.draw(st.integers(0, len(lines)))
    text = "\n".join([*lines[:at], line, *lines[at:]])
    if lines[0].startswith("Summary"):
        assert stored(text) == stored(STATE)
    else:
        assert reassignment_output.read(text).reassignment == reassignment_output.read(TOPICMAPPR).reassignment


@costly(200)
@given(st.sampled_from([TOPICMAPPR, CRUISE_CONTROL_TEXT]), st.sampled_from("{}[]()|?é\t-"), st.data())
def test_a_changed_proposal_is_rejected_or_its_line_is_named(text: str, character: str, data: st.DataObject) -> None:
    """No proposal is lost in silence: another character in place of a digit, but in a name, makes no other proposal."""
    expected = reassignment_output.read(text)
    name = text.index("my.topic-1") + len("my.topic-1") - 1
    places = [
        at for at, one in enumerate(text[: text.rindex("103 102" if "p7" in text else "103, 102")]) if one in DIGITS
    ]
    places.remove(name)
    at = data.draw(st.sampled_from(places))
    try:
        found = reassignment_output.read(text[:at] + character + text[at + 1 :])
    except MalformedText:
        return
    assert expected.reassignment is not None
    assert found.reassignment is not None
    lost = set(expected.reassignment.partitions) - set(found.reassignment.partitions)
    assert not lost or len(found.skipped) > len(expected.skipped)


@costly()
@given(st.permutations(["kafka-topics-describe.txt", "kafka-broker-api-versions.txt", "kcat-list.txt"]), st.data())
def test_harmless_lines_between_texts_change_nothing(names: list[str], data: st.DataObject) -> None:
    between = [data.draw(st.sampled_from(LINES)) for _ in names]
    text = "".join(f"{line}\n{TEXTS[name]}" for line, name in zip(between, names, strict=True))
    assert stored(text) == stored("".join(TEXTS[name] for name in names))


def _noticed(found: Assembled) -> set[str]:
    return {caution.detail for caution in (*cautions.of_assembly(found), *cautions.of_cluster(found.cluster))}


def _is_part(found: Any, of: Any) -> bool:
    """Whether no value is another one: a name may be, a list may be shorter, a value unknown or absent.

    Members of an object that are by name, such as configurations, are compared as a list.
    """
    if found is None or (isinstance(found, str) and isinstance(of, str | None)):
        return True
    if isinstance(found, dict) and isinstance(of, dict):
        if all(_is_part(value, of.get(name)) for name, value in found.items()):
            return True
        found, of = list(found.values()), list(of.values())
    if isinstance(found, list) and isinstance(of, list):
        rest = [*of]
        for value in found:
            if (at := next((i for i, one in enumerate(rest) if _is_part(value, one)), None)) is None:
                return False
            del rest[at]
        return True
    return bool(found == of)


@costly(150)
@given(
    st.sampled_from(sorted(TEXTS)), st.sampled_from(["delete", "repeat", "end", *"{}[]()|?éx"]), st.integers(0, 10**6)
)
def test_a_mutated_text_is_noticed_or_says_a_part_of_what_it_said(name: str, change: str, at: int) -> None:
    """No number becomes another one unless a digit takes the place of a digit. These mutations cannot be seen:

    another sign in a name, which in one row of a group makes a further group or member; and facts lost in a text,
    which is its last rows, and brokers, topics, groups, members and values that no other row needs.
    """
    text, document = TEXTS[name], json.loads(stored(TEXTS[name]))
    lines = text.split("\n")
    line, sign = at % len(lines), at % len(text)
    mutated = {
        "delete": "\n".join([*lines[:line], *lines[line + 1 :]]),
        "repeat": "\n".join([*lines[: line + 1], *lines[line:]]),
        "end": text[:sign],
    }.get(change, text[:sign] + change + text[sign + 1 :])
    try:
        found = read(mutated)
    except MalformedText:
        return
    said = json.loads(snapshot_json.write(found.cluster))
    if len(change) == 1:
        said.pop("groups", None)
    assert _noticed(found) - _noticed(read(text)) or _is_part(said, document)


@pytest.mark.parametrize(
    ("name", "whole", "broken"),
    [
        ("rpk-cluster-info.txt", "OFFLINE-REPLICAS", "OFFLINE-RE LICAS"),
        ("kafka-cluster-list-endpoints.txt", "unfenced", "u fenced"),
        ("kafka-cluster-list-endpoints.txt", "unfenced", "un\u00a0fenced"),
        ("kafka-topics-describe.txt", "Leader: 102", "Leader: \r02"),
        ("kafkajs-metadata.json", '"leader": 102', '"leader": 10'),
    ],
)
def test_a_broken_number_or_column_is_rejected(name: str, whole: str, broken: str) -> None:
    assert whole in TEXTS[name]
    assert rejected(read, TEXTS[name].replace(whole, broken)).line


def test_a_repeated_volume_counts_once() -> None:
    text = TEXTS["strimzi-node-pools.yaml"]
    start, end = text.index("      - deleteClaim"), text.index("      - id: 1")
    assert stored(text[:end] + text[start:]) == stored(text)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("name", a_fifth(sorted(TEXTS)))
def test_a_prefix_of_all_lines_changes_nothing(name: str, prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in TEXTS[name].rstrip("\n").split("\n"))
    assert stored(text) == stored(TEXTS[name])


def _each(form: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{form.format(line)}\n" for line in text.rstrip("\n").split("\n"))


def _stamped(lines: list[str]) -> list[list[str]]:
    return [[str(1_769_860_800_000_000_000 + at), line] for at, line in enumerate(lines)]


FRAMES: dict[str, Callable[[str], str]] = {
    "a JSON string": json.dumps,
    "bytes of Python": lambda text: repr(text.encode()),
    "a module of Ansible": lambda text: json.dumps({"changed": True, "stdout": text, "stderr": "", "rc": 0}),
    "a log file of docker": lambda text: "".join(
        json.dumps({"log": f"{line}\n", "stream": "stdout"}) + "\n" for line in text.rstrip("\n").split("\n")
    ),
    "a collector of logs": lambda text: "".join(
        json.dumps({"@timestamp": "2026-01-31T12:00:00Z", "message": line, "level": "INFO"}) + "\n"
        for line in text.rstrip("\n").split("\n")
    ),
    "events of a cloud": lambda text: json.dumps(
        {"events": [{"timestamp": 7, "message": line} for line in text.rstrip("\n").split("\n")]}, indent=2
    ),
    "a list of YAML": lambda text: (
        "ok:\n  msg:\n" + "".join(f"    - {json.dumps(line)}\n" for line in text.rstrip("\n").split("\n"))
    ),
    "a list of Python": lambda text: repr(text.rstrip("\n").split("\n")),
    "a string of Python": lambda text: pformat(text, width=60),
    "strings of Python": lambda text: pformat(text.rstrip("\n").split("\n")),
    "lines of Go": lambda text: "[" + " ".join(map(json.dumps, text.rstrip("\n").split("\n"))) + "]",
    "Loki": lambda text: json.dumps(
        {"data": {"result": [{"stream": {}, "values": [*_stamped(text.rstrip("\n").split("\n"))][::-1]}]}}, indent=1
    ),
    "shown tabs and ends": lambda text: text.replace("\t", "^I").replace("\n", "$\n"),
    "XML": lambda text: f"<system-out><![CDATA[{text}]]></system-out>",
    "CSV with a time": lambda text: "".join(
        f'"2026-01-31T12:00:00Z","{line}"\n' for line in text.rstrip("\n").split("\n")
    ),
    "bold": _each("**{}**"),
    "a pager": lambda text: text.replace("\n", "\n--More--\n", 1) + "(END)\n",
    "strings": lambda text: "".join(json.dumps(line) + ",\n" for line in text.rstrip("\n").split("\n")),
    "quotes": _each("'{}'"),
    "code": _each("`{}`"),
    "a box": _each("│ {:200} │"),
    "a panel": _each("{:200}│"),
    "Markdown": _each("| {} |"),
    "a web page": lambda text: f"<pre><code>{html.escape(text)}</code></pre>\n",
    "a web page with line ends": lambda text: html.escape(text).replace("\n", "<br>\n"),
    "a fence of a chat": lambda text: f"```{text.strip()}```",
    "a heading": lambda text: "kafka-1:\n" + _each("    {}")(text),
    "lost escapes": _each("[32m{}[0m"),
    "visible escapes": _each("^[[32m{}^[[0m"),
    "line ends of another kind": lambda text: text.replace("\n", "\u2028"),
    "carriage returns": lambda text: text.replace("\n", "\r"),
    "doubled carriage returns": lambda text: text.replace("\n", "\r\r\n"),
    "wide blanks": lambda text: text.replace(" ", "\u2002"),
    "no width": _each("\u2068{}\u2069\u00ad"),
    "hyphens": lambda text: text.replace("-", "\u2011"),
    "journald": _each("2026-01-31T12:00:00+0100 host-1 kafka[712]: {}"),
    "Datadog": _each("2026-01-31 12:00:00 UTC | INFO | {}"),
    "Splunk": _each("1/31/26 12:00:00.000 PM\t{}"),
    "TeamCity": _each("[12:00:00] :\t {}"),
    "initials of a mail": _each("JD> {}"),
    "removed lines": _each("-{}"),
    "quoted-printable": lambda text: quopri.encodestring(text.encode(), quotetabs=True).decode(),
    "a mail": lambda text: (
        "Content-Transfer-Encoding: quoted-printable\n\n" + quopri.encodestring(text.encode()).decode()
    ),
    "marks of an editor": lambda text: text.replace("\t", "→").replace(" ", "·").replace("\n", "¶\n"),
    "colours of Jira": _each("{{color:#de350b}}{}{{color}}"),
    "numbers between lines": lambda text: "".join(f"{at}\n{line}\n" for at, line in enumerate(text.split("\n"), 1)),
    "fonts": _each('<font face="Courier">{}</font>'),
    "items of a page": lambda text: f"<ol>\n{_each('<li><tt>{}</tt></li>')(text)}</ol>\n",
    "a page's source": lambda text: html.escape(f"<pre>{html.escape(text)}</pre>"),
    "an end of a string": lambda text: text.replace("\n", "\0\n"),
    "ends of strings": lambda text: text.replace("\n", "\0"),
    "a recording": lambda text: "".join(
        f'[{at / 10:.1f}, "o", {json.dumps(line)}]\n'
        for at, line in enumerate(text.rstrip("\n").replace("\n", "\r\n\n").split("\n\n"))
    ),
    "a notebook": lambda text: json.dumps(
        {"cells": [{"outputs": [{"name": "stdout", "text": text.rstrip("\n").splitlines(keepends=True)}]}]}, indent=1
    ),
    "an output of IPython": lambda text: f"Out[12]: {text!r}",
    "Fluentd": lambda text: "".join(
        f"2026-01-31 12:00:00.000000000 +0100 kafka.log: {json.dumps({'log': line})}\n"
        for line in text.rstrip("\n").split("\n")
    ),
    "payloads": lambda text: json.dumps(
        [{"jsonPayload": {"message": line}, "severity": "INFO"} for line in text.rstrip("\n").split("\n")]
    ),
    "MySQL": lambda text: f"+-----+\n| out |\n+-----+\n{_each('| {} |')(text)}+-----+\n9 rows in set (0.00 sec)\n",
    "echo": _each('echo "{}"'),
    "a forum": lambda text: f"[code]{text.strip()}[/code]\n",
    "a cell": lambda text: '"' + text.strip().replace('"', '""') + '"\n',
    "Bamboo": _each("build\t31-Jan-2026 12:00:00\t{}"),
    "Javadoc": lambda text: f"/**\n{_each(' * {}')(text)} */\n",
    "80 columns": lambda text: "\n".join(
        line[at : at + 80]
        for line in text.expandtabs().rstrip("\n").split("\n")
        for at in range(0, max(len(line), 1), 80)
    ),
}


@pytest.mark.parametrize("name", a_fifth(sorted(name for name in TEXTS if name.endswith(".txt"))))
@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_around_the_lines_changes_nothing(name: str, frame: str) -> None:
    """Programs, chats and web pages show a text between other characters, or with others in place of its own."""
    framed = FRAMES[frame](TEXTS[name])
    assert framed != TEXTS[name]
    assert stored(framed) == stored(TEXTS[name])


def test_wide_colons_and_commas() -> None:
    text = TEXTS["kafka-topics-describe.txt"]
    assert stored(text.replace(": ", "： ").replace(",", "，")) == stored(text)


@pytest.mark.parametrize(
    "text",
    [
        """
| Topic: t | PartitionCount: 1 | ReplicationFactor: 2 | Configs: |
|---|---|---|---|
| | Topic: t | Partition: 0 | Leader: 1 | Replicas: 1,2 | Isr: 1,2 |
""",
        """
||GROUP||TOPIC||PARTITION||CURRENT-OFFSET||LOG-END-OFFSET||LAG||CONSUMER-ID||HOST||CLIENT-ID||
|g|t|0|1|2|1|-|-|-|
""",
    ],
)
def test_a_table_of_markdown_or_jira(text: str) -> None:
    found = read(text)
    assert [topic.replicas.tolist() for topic in found.cluster.topics] in ([[[1, 2]]], [])
    assert [group.group_id for group in found.cluster.groups] in (["g"], [])
    assert not found.skipped
    assert [note.code for note in found.notes] == ["prefix_removed"]


@pytest.mark.parametrize(
    "text",
    [
        'Topic,Partition,Leader,Replicas,Isr\nt,0,1,"1,2","1,2"\nt,1,,"2,3",2\n',
        "topic\tpartition\tleader\treplicas\tin_sync_replicas\nt\t0\t1\t1,2\t1 2\nt\t1\t-1\t[2, 3]\t[2]\n",
        """| Topic name | Partition id | Leader | Replicas | ISR |
|---|--:|--:|---|---|
| t | 0 | 1 | 1, 2 | 1, 2 |
| t | 1 | -1 | 2, 3 | 2 |
""",
    ],
)
def test_a_table_with_a_heading(text: str) -> None:
    (topic,) = read(text).cluster.topics
    assert (topic.replicas.tolist(), topic.leaders.tolist()) == ([[1, 2], [2, 3]], [1, -1])
    assert topic.isr.tolist() == [[1, 2], [2, -1]]
    assert rejected(read, text.replace("2,3", "2,x").replace("2, 3", "2, x")).line == text.count("\n")


@pytest.mark.long
@given(
    st.lists(st.sampled_from(["TopicId", "PartitionCount", "Configs", "Leader", "Replicas", "Isr", "Elr"]), min_size=1)
)
def test_rows_with_line_breaks_before_columns(columns: list[str]) -> None:
    text = broken = TEXTS["kafka-topics-describe.txt"]
    for column in columns:
        broken = broken.replace(f"\t{column}:", f"\n   {column}:")
    assert stored(broken) == stored(text)


def _ansible(lines: list[str]) -> str:
    return "ok: [kafka-1] => {\n    " + f'"out.stdout_lines": {json.dumps(lines, indent=4)}' + "\n}\n"


@pytest.mark.parametrize(
    "wrapped",
    [
        _ansible,
        lambda lines: f"TASK [describe] ***\n{_ansible(lines)}\nPLAY RECAP ***\n",
        lambda lines: "kafka-1 | CHANGED => " + json.dumps({"changed": True, "rc": 0, "stdout_lines": lines}) + "\n",
        json.dumps,
        lambda lines: json.dumps(lines, indent=2),
        lambda lines: json.dumps({"msg": lines}, indent=2),
    ],
)
def test_a_json_array_of_lines(wrapped: Callable[[list[str]], str]) -> None:
    for name in ("kafka-topics-describe.txt", "kafka-log-dirs-describe.txt", "kafka-consumer-groups-describe.txt"):
        text = wrapped(TEXTS[name].rstrip("\n").split("\n"))
        assert stored(text) == stored(TEXTS[name])
        assert [note.code for note in read(text).notes] == ["prefix_removed"]


@pytest.mark.parametrize("string", ["\\q", "\\ud800", "\\u12", "a\tb", "\x00", "\\"])
def test_an_array_of_lines_that_is_not_json_is_refused(string: str) -> None:
    assert rejected(read, f'{{"stdout_lines": ["orders", "{string}"]}}').detail


@pytest.mark.long
@given(st.binary(min_size=1, max_size=20), st.integers(0, 40))
def test_a_harmless_line_may_have_another_encoding(line: bytes, at: int) -> None:
    """A line of the tool itself may not: its names would be others."""
    lines = TEXTS["kafka-topics-describe.txt"].encode().split(b"\n")
    odd = b"That" + line.replace(b"\n", b"").replace(b"\r", b"") + b"\x92s all"
    found = assemble("c", [Upload.of(b"\n".join([*lines[:at], odd, *lines[at:]]), "topics.txt")])
    assert snapshot_json.write(found.cluster) == stored(TEXTS["kafka-topics-describe.txt"])
    assert at + 1 in [place.line for place in found.skipped]
    broken = [*lines[:at], lines[at].replace(b"Topic:", b"Topic: \xfc", 1), *lines[at + 1 :]]
    with pytest.raises(MalformedText) as caught:
        assemble("c", [Upload.of(b"\n".join(broken), "topics.txt")])
    assert caught.value.line == at + 1
    assert "found byte 0xfc" in caught.value.detail


def test_lines_of_a_json_array_have_their_numbers() -> None:
    lines = TEXTS["kafka-topics-describe.txt"].replace("Isr: 109,103,104", "Isr: 109,103,10", 1).split("\n")
    text = _ansible(lines)
    assert rejected(read, text).line == text[: text.index("Isr: 109,103,10\\t")].count("\n") + 1


@pytest.mark.long
@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Zs"]), min_size=1), st.integers(0, 40))
def test_a_line_of_any_text_is_refused_or_reported(line: str, at: int) -> None:
    assume(not line.isspace())
    lines = TEXTS["kafka-topics-describe.txt"].split("\n")
    try:
        found = read("\n".join([*lines[:at], line, *lines[at:]]))
    except MalformedText:
        return
    assert snapshot_json.write(found.cluster) == stored(TEXTS["kafka-topics-describe.txt"])
    assert [place.line for place in found.skipped] == [at + 1]


@pytest.mark.parametrize(
    ("name", "brokers", "skipped", "unknown"),
    [
        ("prefix-docker-compose.txt", 2, 1, "kafka-setup-1 exited with code 0"),
        ("prefix-dsh.txt", 4, 1, ""),
        ("created-topic.txt", 3, 1, "Created topic l07.cdr.ha."),
        ("sentence-after.txt", 4, 7, "So this is how the replicas are spread over my brokers, I think."),
        ("macos-prompt.txt", 5, 4, ""),
        ("indented-log-line.txt", 1, 1, ""),
    ],
)
def test_texts_as_they_were_pasted(name: str, brokers: int, skipped: int, unknown: str) -> None:
    found = read(report(name))
    assert len(found.cluster.brokers) == brokers
    assert len(found.skipped) == skipped
    assert [place.unknown for place in found.unknown] == [unknown] * bool(unknown)


@pytest.mark.parametrize("prefix", ["", *PREFIXES])
def test_reassignments_with_harmless_lines_and_prefixes(prefix: str) -> None:
    expected = reassignment_output.read(sample("kafka-reassign-partitions-execute.txt")).reassignment
    text = "Thanks!\n" + sample("kafka-reassign-partitions-execute.txt") + "So this is it.\n"
    output = reassignment_output.read("".join(f"{prefix}{line}\n" for line in text.split("\n")))
    assert output.reassignment == expected
    assert [place.unknown for place in output.skipped] == ["Thanks!", "So this is it."]
    assert [note.code for note in output.notes] == ["prefix_removed"] * bool(prefix.strip())


def test_a_broken_reassignment_names_the_same_line_everywhere() -> None:
    text = report("missing-comma.json")
    assert rejected(reassignment_output.read, text).line == rejected(reassignment.read, text).line == 5
    assert rejected(reassignment_output.read, f"hello\n{text}").line == 6


def test_a_prompt_after_a_document_on_its_line() -> None:
    for name in ("kcat-list.json", "cruise-control-load.json"):
        assert stored(TEXTS[name].rstrip() + "root@host:~# ") == stored(TEXTS[name])
    proposed = sample("reassignment-proposed.json")
    printed = reassignment_output.read(proposed.rstrip() + "[root@host ~]# ")
    assert printed.reassignment == reassignment.read(proposed)


@pytest.mark.parametrize("name", sorted(TEXTS))
@pytest.mark.parametrize("prefix", ["{}  | ", "{}: ", "[pod/{}/kafka] ", "{} kafka "])
def test_hosts_that_print_in_turns_read_as_one(name: str, prefix: str) -> None:
    """Each prints the same text, and one a line of a log before it."""
    lines, random = TEXTS[name].rstrip("\n").split("\n"), Random(f"{name}{prefix}")
    left = {"kafka-1": ["[2026-01-31 12:00:00,123] INFO x (kafka.x)", *lines], "kafka-2": lines, "b.example.com": lines}
    mixed = list[str]()
    while left := {host: rest for host, rest in left.items() if rest}:
        host, taken = random.choice(sorted(left)), random.randint(1, 4)
        mixed += [prefix.format(host) + line for line in left[host][:taken]]
        left[host] = left[host][taken:]
    assert stored("\n".join([*mixed, ""])) == stored(TEXTS[name])
    one_by_one = [f"{host} | CHANGED | rc=0 >>\n{TEXTS[name]}\n" for host in ("kafka-1", "kafka-2")]
    assert stored("".join(one_by_one)) == stored(TEXTS[name])


def test_hosts_whose_outputs_differ_are_rejected() -> None:
    """The lists of one host are not silently another's."""
    lines = ["Reassignment of partition t-0 is completed.", "Reassignment of partition t-1 is completed."]
    text = "".join(f"k{host}: {line}\n" for line in lines for host in (1, 2))
    assert len(reassignment_output.read(text).verified) == 2
    with pytest.raises(MalformedText, match="of several, which differ"):
        reassignment_output.read(
            text.replace("k2: Reassignment of partition t-1 is completed", "k2: Reassignment of partition t-1 failed")
        )


@pytest.mark.parametrize("text", ["Status of partition [0m,0]", "Partitions [31m-x,12]", "Reassignment of [0m-0]"])
def test_a_topic_may_be_named_like_a_colour(text: str) -> None:
    """Tools before 2.1 print a partition as `[topic,0]`: `[0m` there is no code that lost its escape."""
    assert plain(text + "[0m") == text
