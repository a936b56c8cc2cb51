"""Decoding and the small readings that every text format shares."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.model import INT32_MAX
from app.errors.requests import MalformedText
from app.formats.syntax.lines import decode, is_topic_name, numbered, whole_number, whole_numbers
from tests.formats.strategies import rejection_of


@given(st.text())
def test_text_survives_encoding_and_decoding(text: str) -> None:
    text = text.removeprefix("\ufeff")
    assert decode(text.encode(), "topics") == text


def test_a_byte_order_mark_is_dropped() -> None:
    assert decode(b"\xef\xbb\xbfTopic: a", "topics") == "Topic: a"


def test_bytes_that_are_not_utf8_are_named_by_line_and_offset() -> None:
    with pytest.raises(MalformedText) as caught:
        decode(b"one\ntwo\nthr\xffee", "log_dirs")
    assert caught.value.line == 3
    assert caught.value.context["byte"] == 11
    assert caught.value.path == ("log_dirs",)
    assert "0xff" in caught.value.detail


@given(st.binary())
@example(b"\x1f\x8b")
@example(b"\xff\xfea\0")
def test_any_bytes_decode_or_are_rejected(content: bytes) -> None:
    rejection = rejection_of(lambda left: decode(left, "topics"), content)
    if rejection is None:
        encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
        assert decode(content, "topics") == content.decode(encoding).removeprefix("\ufeff")
    elif not content.startswith(b"\x1f\x8b"):  # the bytes of an archive that is damaged have no line
        byte = rejection.context["byte"]
        assert isinstance(byte, int)
        assert rejection.line == content.count(b"\n", 0, byte) + 1


def test_log_lines_and_blank_lines_are_skipped_and_still_counted() -> None:
    text = "[2025-01-27 19:50:51,936] WARN [AdminClient] …\nWarning: --zookeeper is deprecated\n\nTopic: a\r\n \t\r\nb"
    assert list(numbered(text)) == [(4, "Topic: a"), (6, "b")]


@pytest.mark.parametrize(
    "line",
    [
        "[2025-01-27 19:50:51,936] WARN [AdminClient clientId=adminclient-1] x (o.a.k.clients.NetworkClient)",
        "2025-01-27T19:50:51.936123456Z main WARN The use of package scanning is deprecated",
        "WARNING: An illegal reflective access operation has occurred",
        "log4j:WARN No appenders could be found for logger (kafka.utils.Log4jControllerRegistration$).",
        "SLF4J: Class path contains multiple SLF4J bindings.",
        "SLF4J(W): Class path contains multiple SLF4J providers.",
        "ERROR StatusLogger No Log4j 2 configuration file found.",
        "Picked up JAVA_TOOL_OPTIONS: -Dfile.encoding=UTF-8",
        "OpenJDK 64-Bit Server VM warning: If the number of processors is expected to increase from one, …",
        "Java HotSpot(TM) 64-Bit Server VM warning: Option UseConcMarkSweepGC was deprecated in version 9.0",
        "DEPRECATED: A Log4j 1.x configuration file has been detected, which is no longer recommended.",
        "To use a Log4j 2.x configuration, please see https://logging.apache.org/log4j/2.x/migrate-from-log4j1.html",
        "You can also use the /opt/kafka/config/tool-log4j2.yaml file as a starting point.",
        "Option --config has been deprecated and will be removed in a future version.",
        "java.net.ConnectException: Connection refused",
        "Caused by: org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment.",
        "\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)",
        "\t... 12 more",
    ],
)
def test_lines_of_logs_the_jvm_and_start_scripts_are_skipped(line: str) -> None:
    """As the tools of Kafka 2.x to 4.x print them before and after their answers."""
    assert list(numbered(f"{line}\nTopic: a\n{line}\r\n")) == [(2, "Topic: a")]


@pytest.mark.parametrize("line", ["[1,2,3]", "[orders]", "Warnings", "WARNED", " WARN x", "java.topic", "Option x"])
def test_other_lines_are_not_taken_for_log_lines(line: str) -> None:
    assert list(numbered(line)) == [(1, line)]


@given(st.integers(0, INT32_MAX))
def test_a_number_reads_back(number: int) -> None:
    assert whole_number(str(number)) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1_0", "1.0", "٣", "²", "2147483648", "9" * 5000, "0x1"])
def test_what_is_no_broker_id_is_none(text: str) -> None:
    assert whole_number(text) is None
    assert whole_numbers(f"1,{text}") is None


@given(st.lists(st.integers(0, INT32_MAX)))
def test_a_list_of_numbers_reads_back(numbers: list[int]) -> None:
    assert whole_numbers(",".join(map(str, numbers))) == tuple(numbers)


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        *((name, True) for name in ("a", "a.b_c-1", "x" * 249, "...")),
        *((name, False) for name in ("", ".", "..", "x" * 250, "a b", "ä", "a\n")),
    ],
)
def test_topic_names_are_those_that_kafka_takes(name: str, legal: bool) -> None:
    assert is_topic_name(name) is legal
