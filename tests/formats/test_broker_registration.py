"""Broker registrations of the five versions."""

from collections.abc import Mapping

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Broker
from app.formats.clusters.broker_registration import BrokerRegistration, broker, read
from tests.formats.strategies import broken, reads_or_rejects, rejected
from tests.formats.writers.broker_registration import least_version, write

# Written by brokers of the five versions, their documents' keys in Kafka's order.
EXAMPLES = {
    1: '{"jmx_port":-1,"host":"kafka-1","timestamp":"1390000000000","port":9092,"version":1}',
    2: '{"endpoints":["PLAINTEXT://kafka-1:9092"],"jmx_port":9999,"host":"kafka-1","timestamp":"1447000000000",'
    '"port":9092,"version":2}',
    3: '{"endpoints":["PLAINTEXT://kafka-1:9092","SSL://kafka-1:9093"],"rack":"dc1","jmx_port":9999,"host":"kafka-1",'
    '"timestamp":"1458000000000","port":9092,"version":3}',
    4: '{"listener_security_protocol_map":{"INTERNAL":"SSL"},"endpoints":["INTERNAL://[::1]:9093"],"rack":"dc1",'
    '"jmx_port":-1,"host":null,"timestamp":"1567061408756","port":-1,"version":4}',
    5: '{"listener_security_protocol_map":{"INSECURE":"PLAINTEXT","REPLICATION":"SASL_PLAINTEXT"},'
    '"endpoints":["INSECURE://localhost:9092","REPLICATION://localhost:29092"],"jmx_port":-1,'
    '"features":{"metadata.version":{"min_version":1,"max_version":7}},"host":"localhost",'
    '"timestamp":"1666342423700","port":9092,"version":5}',
}


@st.composite
def registrations(draw: st.DrawFn) -> BrokerRegistration:
    version = draw(st.integers(1, 5))
    listeners = draw(st.lists(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), min_size=1, max_size=3, unique=True))
    endpoints = [f"{listener}://kafka-1:{9092 + i}" for i, listener in enumerate(listeners)]
    features: Mapping[str, Mapping[str, int]] = draw(
        st.dictionaries(st.text(max_size=5), st.dictionaries(st.text(max_size=5), st.integers(0, 32767), max_size=2))
    )
    plain = version == 1 or draw(st.booleans())
    return BrokerRegistration(
        host=draw(st.text(max_size=8)) if plain else None,
        port=draw(st.integers(0, 65535)) if plain else -1,
        timestamp_ms=draw(st.integers(0, 10**15)),
        jmx_port=draw(st.integers(-1, 65535)),
        endpoints=tuple(endpoints) if version >= 2 else (),
        rack=draw(st.none() | st.text(max_size=8)) if version >= 3 else None,
        listener_security_protocols=dict.fromkeys(listeners, "SSL") if version >= 4 else {},
        features=features if version >= 5 else {},
    )


@given(registrations(), st.integers(1, 5))
def test_what_is_written_reads_back_in_each_version_that_can_say_it(
    registration: BrokerRegistration, version: int
) -> None:
    if version < least_version(registration):
        with pytest.raises(ValueError, match="needs version"):
            write(registration, version=version)
    else:
        text = write(registration, version=version)
        assert orjson.loads(text)["version"] == version
        assert read(text) == registration


@pytest.mark.parametrize("version", EXAMPLES)
def test_the_examples_come_back_verbatim(version: int) -> None:
    assert write(read(EXAMPLES[version]), version=version) == EXAMPLES[version]


def test_a_rack_needs_version_three() -> None:
    registration = read(EXAMPLES[3])
    assert registration.rack == "dc1"
    assert broker(registration, broker_id=7) == Broker(7, "dc1")
    with pytest.raises(ValueError, match="needs version 3; 2 given"):
        write(registration, version=2)
    assert broker(read(EXAMPLES[2]), broker_id=7) == Broker(7)


@pytest.mark.parametrize("version", [0, 6])
def test_other_versions_are_not_written(version: int) -> None:
    with pytest.raises(ValueError, match="versions 1 to 5"):
        write(read(EXAMPLES[1]), version=version)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (EXAMPLES[1].replace('"version":1', '"version":6'), "version: expected a whole number from 1 to 5, found 6"),
        (EXAMPLES[1].replace(',"version":1', ""), "the document: expected the key 'version'"),
        (EXAMPLES[1].replace('"version":1', '"rack":"a","version":1'), "rack: expected only the keys"),
        (EXAMPLES[2].replace('"version":2', '"rack":"a","version":2'), "rack: expected only the keys"),
        (EXAMPLES[3].replace('"rack":"dc1"', '"rack":7'), "rack: expected a string, found 7"),
        (EXAMPLES[2].replace("endpoints", "endpoint"), "expected the key 'endpoints'"),
        (EXAMPLES[2].replace("PLAINTEXT://kafka-1:9092", "kafka-1:9092"), "endpoints/0: expected an endpoint"),
        (EXAMPLES[4].replace('{"INTERNAL"', '{"EXTERNAL"'), "endpoints/0: expected a listener of EXTERNAL"),
        (EXAMPLES[4].replace('"SSL"', "null"), "listener_security_protocol_map/INTERNAL: expected a string"),
        (
            EXAMPLES[5].replace('"min_version":1', '"min_version":"1"'),
            "features/metadata.version/min_version: expected",
        ),
        (EXAMPLES[1].replace('"1390000000000"', "1390000000000"), "timestamp: expected a string"),
        (EXAMPLES[1].replace('"1390000000000"', '"-1"'), "timestamp: expected milliseconds"),
        (EXAMPLES[1].replace("9092", "-1"), "port: expected a whole number from 0"),
        (EXAMPLES[2].replace('"port":9092', '"port":65536'), "port: expected a whole number from -1"),
        (EXAMPLES[1].replace('"kafka-1"', "null"), "host: expected a string"),
        ("[]", "the document: expected an object"),
        ("", "a broker registration as JSON"),
    ],
)
def test_a_malformed_registration_is_named_by_its_place(text: str, says: str) -> None:
    rejection = rejected(read, "\n" + text)
    assert says in rejection.detail
    assert rejection.line == (2 if text else 1)


@given(st.text() | st.sampled_from(list(EXAMPLES.values())).flatmap(broken))
def test_any_text_reads_or_is_rejected(text: str) -> None:
    reads_or_rejects(read, text)
