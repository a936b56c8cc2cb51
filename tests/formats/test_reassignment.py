"""Reassignment JSON, alone and inside the output of `--generate` and `--execute`."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import INT32_MAX, Placement, unpadded
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.reassignment import (
    ANY_LOG_DIR,
    PartitionReassignment,
    Reassignment,
    read,
    read_between,
    write,
    write_placements,
)
from tests.formats.strategies import (
    broken,
    matrix,
    placements,
    reads_or_rejects,
    rejected,
    replica_lists,
    sample,
    topic_names,
)
from tests.formats.writers.reassignment import write_generated
from tests.profiles import costly

GENERATE, EXECUTE = "kafka-reassign-partitions-generate.txt", "kafka-reassign-partitions-execute.txt"
CURRENT, PROPOSED = "reassignment-current.json", "reassignment-proposed.json"


@st.composite
def partitions(draw: st.DrawFn) -> PartitionReassignment:
    replicas = draw(replica_lists)
    directory = st.just(ANY_LOG_DIR) | st.text(max_size=10)
    log_dirs = st.lists(directory, min_size=len(replicas), max_size=len(replicas)).map(tuple)
    return PartitionReassignment(
        draw(topic_names), draw(st.integers(0, INT32_MAX)), replicas, draw(st.none() | log_dirs)
    )


reassignments = st.builds(
    Reassignment,
    st.lists(partitions(), max_size=5, unique_by=lambda row: (row.topic, row.partition)).map(tuple),
)


def read_generated(text: str) -> tuple[Reassignment, Reassignment]:
    """The current and the proposed assignment."""
    current = read_between(text, after=reassignment.CURRENT, until=reassignment.PROPOSED)
    return current, read_between(text, after=reassignment.PROPOSED, until=None)


def read_executed(text: str) -> Reassignment:
    return read_between(text, after=reassignment.CURRENT, until=reassignment.SAVE)


class TestReadAndWrite:
    @costly()
    @given(reassignments)
    def test_what_is_written_reads_back(self, reassignment: Reassignment) -> None:
        assert read(write(reassignment)) == reassignment

    @costly()
    @given(reassignments, reassignments)
    def test_what_generate_prints_reads_back(self, current: Reassignment, proposed: Reassignment) -> None:
        assert read_generated(write_generated(current, proposed)) == (current, proposed)

    @pytest.mark.parametrize("name", [CURRENT, PROPOSED])
    def test_real_documents_come_back_verbatim(self, name: str) -> None:
        assert write(read(sample(name))) == sample(name)

    def test_the_real_answer_of_generate_comes_back_verbatim(self) -> None:
        generated = read_generated(sample(GENERATE))
        assert write_generated(*generated) == sample(GENERATE)
        assert generated == (read(sample(CURRENT)), read(sample(PROPOSED)))

    def test_execute_prints_what_to_roll_back_to(self) -> None:
        assert read_executed(sample(EXECUTE)) == read(sample(CURRENT))

    def test_log_dirs_and_version_may_be_missing(self) -> None:
        text = '{"partitions": [{"partition": 1, "topic": "t", "replicas": [2, 1]}]}'
        assert read(text) == Reassignment((PartitionReassignment("t", 1, (2, 1)),))

    def test_line_ends_and_log_lines_do_not_matter(self) -> None:
        text = "[2025-01-27 19:50:51,936] WARN x\n" + sample(GENERATE)
        assert read_generated(text.replace("\n", "\r\n")) == read_generated(sample(GENERATE))


class TestPlacements:
    @costly()
    @given(placements())
    def test_placements_are_written_as_their_reassignment(self, placed: list[Placement]) -> None:
        """The fast way writes, the same bytes as the plain way."""
        rows = [
            PartitionReassignment(placement.topic, placement.first_partition_id + i, tuple(replicas))
            for placement in placed
            for i, replicas in enumerate(unpadded(placement.replicas))
        ]
        assert write_placements(placed).decode() == write(Reassignment(tuple(rows)))

    def test_no_placements_are_an_empty_document(self) -> None:
        assert write_placements([]) == b'{"version":1,"partitions":[]}\n'

    def test_more_rows_than_are_written_at_once(self) -> None:
        placement = Placement("t", 5, matrix([[1, 2]] * 70_000))
        written = orjson.loads(write_placements([placement]))["partitions"]
        assert [row["partition"] for row in written] == list(range(5, 70_005))


def _document(row: str) -> str:
    return '{"version":1,"partitions":[\n{"topic":"t","partition":0,"replicas":[1,2]},\n' + row + "\n]}"


class TestRejections:
    @pytest.mark.parametrize(
        ("row", "says"),
        [
            ('{"topic":"t","partition":0,"replicas":[1,2]}', "partitions/1: expected each partition once"),
            ('{"topic":"t","partition":1,"replicas":[1,2,1]}', "partitions/1/replicas: expected each broker once"),
            ('{"topic":"t","partition":1,"replicas":[]}', "partitions/1/replicas: expected at least one broker"),
            ('{"topic":"t","partition":1,"replicas":[1,-2]}', "partitions/1/replicas/1: expected a whole number"),
            ('{"topic":"t","partition":1,"replicas":[1,2147483648]}', "partitions/1/replicas/1: expected a whole"),
            ('{"topic":"t","partition":1,"replicas":[1,true]}', "partitions/1/replicas/1: expected a whole number"),
            ('{"topic":"t","partition":1,"replicas":[1,2.0]}', "partitions/1/replicas/1: expected a whole number"),
            ('{"topic":"t","partition":1,"replicas":"1,2"}', "partitions/1/replicas: expected an array"),
            ('{"topic":"t","partition":-1,"replicas":[1]}', "partitions/1/partition: expected a whole number"),
            ('{"topic":"t","partition":null,"replicas":[1]}', "partitions/1/partition: expected a whole number"),
            ('{"topic":"t t","partition":1,"replicas":[1]}', "partitions/1/topic: expected a topic name"),
            ('{"topic":7,"partition":1,"replicas":[1]}', "partitions/1/topic: expected a string"),
            ('{"partition":1,"replicas":[1]}', "partitions/1: expected the key 'topic'"),
            (
                '{"topic":"t","partition":1,"replicas":[1],"replica":[1]}',
                "partitions/1/replica: expected only the keys",
            ),
            (
                '{"topic":"t","partition":1,"replicas":[1],"log_dirs":["any","any"]}',
                "partitions/1/log_dirs: expected a",
            ),
            ('{"topic":"t","partition":1,"replicas":[1],"log_dirs":[1]}', "partitions/1/log_dirs/0: expected a string"),
            ('{"topic":"t","partition":1,"replicas":[1],"log_dirs":null}', "partitions/1/log_dirs: expected an array"),
            ("[]", "partitions/1: expected an object, found an array"),
        ],
    )
    def test_a_partition_is_rejected_by_its_place_and_line(self, row: str, says: str) -> None:
        rejection = rejected(read, _document(row))
        assert says in rejection.detail
        assert rejection.line == 3
        assert rejection.context["document_path"] == says.partition(":")[0]

    @pytest.mark.parametrize(
        ("text", "line", "says"),
        [
            ("", 1, "a reassignment as JSON"),
            ('{"version":1,\n"partitions":[}', 2, "a reassignment as JSON"),
            ("[]", 1, "the document: expected an object"),
            ("{}", 1, "the key 'partitions'"),
            ('{"version":2,"partitions":[]}', 1, "version: expected version 1, found 2"),
            ('{"version":true,"partitions":[]}', 1, "version: expected version 1, found true"),
            ('{"version":"1","partitions":[]}', 1, "version: expected version 1"),
            ('{"version":1,\n"partitions":[],\n"topics":[]}', 3, "topics: expected only the keys"),
            ('{"version":1,"partitions":{}}', 1, "partitions: expected an array"),
        ],
    )
    def test_a_document_is_rejected_by_line(self, text: str, line: int, says: str) -> None:
        rejection = rejected(read, text)
        assert rejection.line == line
        assert says in rejection.detail

    def test_what_generate_prints_is_rejected_by_the_paste_s_line(self) -> None:
        text = sample(GENERATE)
        assert rejected(read_generated, "hello").line == 1
        assert rejected(read_generated, text[: text.index("Proposed")]).detail.endswith("found the end of the text")
        assert rejected(read_generated, text.replace("[106,103,108]", "[106,103,106]")).line == 5
        assert rejected(read_generated, text[:-5]).line == 5
        assert rejected(read_executed, sample(EXECUTE).replace('"version":1', '"version":3')).line == 3


class TestFuzz:
    @given(st.text())
    @pytest.mark.parametrize("reader", [read, read_generated, read_executed])
    def test_any_text_reads_or_is_rejected(self, reader, text: str) -> None:  # type: ignore[no-untyped-def]  # one of three readers
        reads_or_rejects(reader, text)

    @costly(200)
    @given(st.data())
    @pytest.mark.parametrize(
        ("reader", "name"),
        [(read, CURRENT), (read_generated, GENERATE), (read_executed, EXECUTE)],
    )
    def test_any_broken_capture_reads_or_is_rejected(self, reader, name: str, data: st.DataObject) -> None:  # type: ignore[no-untyped-def]  # one of three readers
        reads_or_rejects(reader, data.draw(broken(sample(name)[:3000])))
        reads_or_rejects(reader, data.draw(broken(sample(name))))


def test_generate_with_the_directories_of_current_replicas() -> None:
    """Since 4.2; since 4.3 a broker that is down has `any`."""
    document = (
        '{{"version":1,"partitions":[{{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["{}","any"]}}]}}\n'
    )
    text = (
        f"Current partition replica assignment\n{document.format('/var/lib/kafka/d1')}\n"
        f"Proposed partition reassignment configuration\n{document.format('any')}"
    )
    generated = read_generated(text)
    assert generated[0].partitions[0].log_dirs == ("/var/lib/kafka/d1", "any")
    assert write_generated(*generated) == text


@pytest.mark.parametrize("blank", ["", "\n"])
def test_generate_of_older_tools_with_log_lines_around(blank: str) -> None:
    """Up to 1.x an empty line came after each heading, and documents had no `log_dirs`."""
    document = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}'
    log = "[2019-03-04 05:06:07,008] WARN x\nSLF4J: Class path contains multiple SLF4J bindings.\n"
    text = (
        f"{log}Current partition replica assignment\n{blank}{document}\n\n{log}"
        f"Proposed partition reassignment configuration\n{blank}{document}\n{log}"
    )
    assert read_generated(text) == (read(document), read(document))


def test_execute_of_older_tools() -> None:
    document = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}'
    text = (
        f"Current partition replica assignment\n\n{document}\n\n"
        "Save this to use as the --reassignment-json-file option during rollback\n"
        "Successfully started reassignment of partitions.\n"
    )
    assert read_executed(text) == read(document)
